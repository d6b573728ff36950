#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace plimsoll::bench {

// One task of a Nextflow trace file.
struct Task {
  std::string process;
  std::uint64_t submitted = 0;       // ms; 0 if not known
  Bytes peak{};                      // peak_rss
  Duration ran{};                    // realtime
  std::optional<Bytes> requested{};  // memory
  std::optional<Bytes> input{};      // rchar
};

struct Trace {
  std::vector<Task> tasks;  // that were completed, in order of submission
  std::size_t skipped = 0;  // others, and rows without usable numbers
};

// Of the text of a trace file: comma-separated, with a line of names first; numbers in bytes and
// milliseconds. A file without the columns process, realtime and peak_rss is an error.
[[nodiscard]] Result<Trace> parse_nextflow_trace(std::string_view text);

}  // namespace plimsoll::bench

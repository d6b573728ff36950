#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// What follows `--` on the command line: a command template and where its values come from, in the
// words of GNU parallel (docs/formats/arguments.md).
namespace plimsoll::jobfile {

// How the values of a source go together with those of the sources before it.
enum class Joining : std::uint8_t {
  crossed,  // `:::` `::::`: each with each
  linked,   // `:::+` `::::+`: the first with the first of the source before, and so on
};

// A source as the user named it.
struct SourceSpec {
  enum class Kind : std::uint8_t {
    words,  // the values themselves
    file,   // the lines of a file; "-" is standard input
  };
  Kind kind = Kind::words;
  Joining joining = Joining::crossed;
  std::vector<std::string> words{};
  std::string file{};
  bool operator==(const SourceSpec&) const = default;
};

struct BatchWords {
  std::vector<std::string> command;  // the template; may be empty
  std::vector<SourceSpec> sources;
};

// Whether a source begins with this word: `:::`, `:::+`, `::::` or `::::+`.
[[nodiscard]] bool is_source_marker(std::string_view word);

// Cuts the words after `--` at `:::`, `:::+`, `::::` and `::::+`. The files of `-a`,
// `argument_files`, are the first sources. A `::::` without a file and a link to nothing are
// errors.
[[nodiscard]] Result<BatchWords> split_batch_words(std::span<const std::string> words,
                                                   std::span<const std::string> argument_files);

}  // namespace plimsoll::jobfile

#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace plimsoll::jobfile {

// How a job file is written: `--format`.
enum class Format : std::uint8_t {
  text,   // one shell command a line
  jsonl,  // one JSON object a line
};

// "text" or "jsonl".
[[nodiscard]] Result<Format> parse_format(std::string_view text);

// The format of a job file of which nobody said it: jsonl if the first line that is not blank is a
// JSON object, or begins with `{"` and so was meant as one: no shell command begins like that, and
// to run what is left of a broken object as a command would be worse than the error. Else text.
[[nodiscard]] Format detect_format(std::string_view text);

// Refuses what was certainly not meant as lines: a first line that only begins a JSON array, or an
// object of several lines. The shell would take each of its lines for a command.
[[nodiscard]] Result<void> check_is_lines(std::string_view text, std::string_view file);

}  // namespace plimsoll::jobfile

#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace plimsoll::jobfile {

// Refuses a file that was written for another program, as the shell would run each of its lines:
// one whose name says so (build.ninja, Makefile, GNUmakefile, CMakeLists.txt), and one whose first
// line that is neither blank nor a comment is YAML ("---", "KEY:", "KEY: VALUE", "- KEY: ..."), of
// a ninja file, or a tag of HTML or XML. No shell command looks like these. The error says what was
// found, and that --format text takes the lines all the same.
[[nodiscard]] Result<void> check_is_not_foreign(std::string_view text, std::string_view file);

// How a job file is written: `--format`.
enum class Format : std::uint8_t {
  text,   // one shell command a line
  jsonl,  // one JSON object a line
};

// "text" or "jsonl".
[[nodiscard]] Result<Format> parse_format(std::string_view text);

// The format of a job file of which nobody said it: jsonl if the first line that is neither blank
// nor a comment is a JSON object, or begins with `{"` and so was meant as one: no shell command
// begins like that, and to run what is left of a broken object as a command would be worse than the
// error. The same holds below a comment: JSON has none, so the reader refuses it. Else text.
[[nodiscard]] Format detect_format(std::string_view text);

// Refuses what was certainly not meant as lines: a first line that only begins a JSON array, or an
// object of several lines. The shell would take each of its lines for a command.
[[nodiscard]] Result<void> check_is_lines(std::string_view text, std::string_view file);

}  // namespace plimsoll::jobfile

#pragma once

#include <string_view>

#include "base/result.h"

namespace plimsoll::jobfile {

// Refuses a file that was written for another program, as the shell would run each of its lines:
// one whose name says so (build.ninja, Makefile, GNUmakefile, CMakeLists.txt), and one whose first
// line that is neither blank nor a comment is YAML ("---", "KEY:", "KEY: VALUE", "- KEY: ..."), of
// a ninja file, or a tag of HTML or XML. No shell command looks like these. The error says what was
// found, and that --format text takes the lines all the same.
[[nodiscard]] Result<void> check_is_not_foreign(std::string_view text, std::string_view file);

}  // namespace plimsoll::jobfile

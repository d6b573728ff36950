#pragma once

#include <string>
#include <string_view>

namespace plimsoll::jobfile {

// Appends `value` to shell text as one word (or part of one) that any POSIX shell takes literally:
// backslashes before everything but plain characters, a newline in quotes, `''` for nothing.
// `value` holds no NUL.
//
// Backslashes rather than quotes around the whole: where a template has put double quotes around
// the place, `$`, backquotes and quotes of the value stay without effect all the same.
void append_shell_word(std::string& text, std::string_view value);

}  // namespace plimsoll::jobfile

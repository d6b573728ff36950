#pragma once

#include <string>
#include <string_view>

namespace plimsoll::guardian {

// The name that a process has given itself, for people: what is not printable ASCII becomes "?", so
// that it neither speaks to a terminal nor begins a line.
std::string plain(std::string_view name);

// Writes a line for people to standard error, as of the program. Nobody reading it harms nobody:
// neither the end of a pipe nor a terminal that stops its background ends or stops the guardian.
void say(const std::string& text);

}  // namespace plimsoll::guardian

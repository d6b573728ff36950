#pragma once

#include <string>

namespace plimsoll::guardian {

// Writes a line for people to standard error, as of the program. Nobody reading it harms nobody:
// neither the end of a pipe nor a terminal that stops its background ends or stops the guardian.
void say(const std::string& text);

}  // namespace plimsoll::guardian

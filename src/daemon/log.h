#pragma once

#include <string>
#include <string_view>

namespace plimsoll::daemon {

// `text` as one line of the log: names in it are others', and make neither lines of their own nor
// escape sequences.
[[nodiscard]] std::string log_line(std::string_view text);

// Writes that line to stderr.
void log(const std::string& text);

}  // namespace plimsoll::daemon

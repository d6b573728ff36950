#pragma once

#include <string>
#include <string_view>

namespace plimsoll::daemon {

// Any bytes as Go's %q writes them, quotes included, so that they can be read and are valid UTF-8:
// "a\x00b". Characters that Unicode has not assigned are taken for printable.
std::string go_quoted(std::string_view text);

}  // namespace plimsoll::daemon

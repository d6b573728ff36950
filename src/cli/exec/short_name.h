#pragma once

#include <string>
#include <vector>

namespace plimsoll::cli {

// What messages call a command: the name of its program, or the text in quotes if a shell is given
// one to run (`sh -c`). Printable, and at most 60 columns of the text.
[[nodiscard]] std::string short_name(const std::vector<std::string>& command);

}  // namespace plimsoll::cli

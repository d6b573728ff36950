#pragma once

#include <string>
#include <vector>

namespace plimsoll::cli {

// Whether the command only asks a compiler or another tool about itself (`gcc --version`,
// `rustc -vV`, `cc -dumpmachine`): over in a moment, and asked before anything else can go on.
[[nodiscard]] bool is_probe(const std::vector<std::string>& command);

}  // namespace plimsoll::cli

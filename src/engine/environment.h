#pragma once

#include <string>
#include <utility>
#include <vector>

namespace plimsoll::engine {

// This process' environment as "NAME=value", with `changes` set or replaced; the last one of a name
// wins.
std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& changes);

}  // namespace plimsoll::engine

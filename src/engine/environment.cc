#include "engine/environment.h"

#include <unistd.h>

#include <algorithm>

namespace plimsoll::engine {

std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  for (const auto& [name, value] : changes) {
    const std::string prefix = name + "=";
    const auto same = [&prefix](const std::string& variable) {
      return variable.starts_with(prefix);
    };
    const auto found = std::find_if(variables.begin(), variables.end(), same);
    if (found != variables.end()) {
      *found = prefix + value;
    } else {
      variables.push_back(prefix + value);
    }
  }
  return variables;
}

}  // namespace plimsoll::engine

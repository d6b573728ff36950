#include "supervisor/environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace plimsoll::supervisor {
namespace {

using Changes = std::vector<std::pair<std::string, std::string>>;

constexpr std::array<std::string_view, 7> kOfAnybody = {"COLORTERM", "LANG", "LANGUAGE", "NO_COLOR",
                                                        "PATH",      "TERM", "TZ"};

bool is_of_anybody(std::string_view variable) {
  const std::string_view name = variable.substr(0, variable.find('='));
  return name.starts_with("LC_") || std::ranges::find(kOfAnybody, name) != kOfAnybody.end();
}

void change(std::vector<std::string>& variables, const Changes& changes) {
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
}

}  // namespace

std::vector<std::string> environment_with(const Changes& changes) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  change(variables, changes);
  return variables;
}

std::vector<std::string> environment_of(const Account& user, const Changes& changes) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (is_of_anybody(*variable)) variables.emplace_back(*variable);
  }
  variables.push_back("HOME=" + user.home);
  variables.push_back("SHELL=" + user.shell);
  if (!user.name.empty()) {
    variables.push_back("USER=" + user.name);
    variables.push_back("LOGNAME=" + user.name);
  }
  change(variables, changes);
  return variables;
}

}  // namespace plimsoll::supervisor

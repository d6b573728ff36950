#include "cli/exec/short_name.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "report/plain.h"

namespace plimsoll::cli {
namespace {

constexpr std::size_t kTextMost = 60;
constexpr std::array<std::string_view, 6> kShells = {"ash", "bash", "dash", "ksh", "sh", "zsh"};

// `-c`, or `-lc`: several letters, of which the text is for that one.
bool is_for_text(std::string_view word) {
  return word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
}

}  // namespace

std::string short_name(const std::vector<std::string>& command) {
  const std::string program = std::filesystem::path(command.front()).filename().string();
  const bool is_shell = std::find(kShells.begin(), kShells.end(), program) != kShells.end();
  if (!is_shell || command.size() < 3 || !is_for_text(command[1])) {
    return report::printable(program);
  }
  return '"' + report::fitted(report::printable(command[2]), kTextMost) + '"';
}

}  // namespace plimsoll::cli

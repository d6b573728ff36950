#include "cli/exec/short_name.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <string_view>

#include "report/plain.h"

namespace plimsoll::cli {
namespace {

constexpr std::size_t kTextMost = 60;
constexpr std::array<std::string_view, 6> kShells = {"ash", "bash", "dash", "ksh", "sh", "zsh"};

// The text that the words after a shell's name give it with `-c`; null: they give none.
const std::string* text_of(const std::vector<std::string>& command) {
  bool is_text = false;
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string& word = command[i];
    if (!word.starts_with('-')) return is_text ? &command[i] : nullptr;
    if (word.starts_with("--")) continue;
    is_text = is_text || word.find('c') != std::string::npos;
    if (word.ends_with('o')) ++i;  // `-o pipefail`
  }
  return nullptr;
}

std::string on_one_line(std::string text) {
  std::replace_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return text;
}

}  // namespace

std::string short_name(const std::vector<std::string>& command) {
  const std::string program = std::filesystem::path(command.front()).filename().string();
  const bool is_shell = std::find(kShells.begin(), kShells.end(), program) != kShells.end();
  const std::string* text = is_shell ? text_of(command) : nullptr;
  if (text == nullptr || text->empty()) return report::printable(program);
  return '"' + report::fitted(report::printable(on_one_line(*text)), kTextMost) + '"';
}

}  // namespace plimsoll::cli

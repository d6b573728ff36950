#include "cli/exec/probe.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace plimsoll::cli {
namespace {

constexpr std::array<std::string_view, 11> kQuestions = {
    "--version", "-version",     "-V",           "-v",         "-vV",      "--help",
    "-h",        "-dumpmachine", "-dumpversion", "-dumpspecs", "-qversion"};

bool is_question(std::string_view word) {
  if (word.starts_with("-print-")) return true;
  return std::find(kQuestions.begin(), kQuestions.end(), word) != kQuestions.end();
}

}  // namespace

bool is_probe(const std::vector<std::string>& command) {
  const std::vector<std::string> words(command.begin() + 1, command.end());
  if (words.empty()) return false;
  if (std::all_of(words.begin(), words.end(), is_question)) return true;
  const auto has = [&words](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  // What rustc prints of itself, and what a compiler makes of a few lines or of none.
  const bool prints = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.starts_with("--print=");
  });
  return prints || (has("-E") && (has("-") || has("/dev/null")));
}

}  // namespace plimsoll::cli

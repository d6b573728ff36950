#include "cli/exec/command_kinds.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace plimsoll::cli {
namespace {

// Of whatever program.
constexpr std::array<std::string_view, 7> kQuestions = {
    "--version", "-version", "--help", "-dumpmachine", "-dumpversion", "-dumpspecs", "-qversion"};
// Of a compiler; to others they say how much to tell while they work.
constexpr std::array<std::string_view, 4> kCompilerQuestions = {"-v", "-V", "-vV", "-h"};

constexpr std::array<std::string_view, 22> kCompilers = {
    "as",      "c++",      "c89",    "c99",   "cc",   "cc1",  "cc1plus",  "clang",
    "clang++", "collect2", "f95",    "flang", "g++",  "gcc",  "gfortran", "ld",
    "ld.bfd",  "ld.gold",  "ld.lld", "lld",   "mold", "rustc"};

bool is_version(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
}

// "x86_64-linux-gnu-g++-12" is "g++".
std::string_view tool_of(std::string_view file) {
  std::string_view name = file.substr(file.rfind('/') + 1);
  if (const auto dash = name.rfind('-');
      dash != std::string_view::npos && is_version(name.substr(dash + 1))) {
    name = name.substr(0, dash);
  }
  return name.substr(name.rfind('-') + 1);
}

bool is_compiler(const std::string& file) {
  return std::ranges::count(kCompilers, tool_of(file)) > 0;
}

}  // namespace

bool is_probe(const std::vector<std::string>& command) {
  const std::vector<std::string> words(command.begin() + 1, command.end());
  if (words.empty()) return false;
  const bool of_compiler = is_compiler(command.front());
  const auto is_question = [of_compiler](std::string_view word) {
    return word.starts_with("-print-") || std::ranges::count(kQuestions, word) > 0 ||
           (of_compiler && std::ranges::count(kCompilerQuestions, word) > 0);
  };
  if (std::all_of(words.begin(), words.end(), is_question)) return true;
  if (!of_compiler) return false;
  const auto has = [&words](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  // What rustc prints of itself, and what a compiler makes of a few lines or of none.
  const bool prints = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.starts_with("--print=");
  });
  return prints || (has("-E") && (has("-") || has("/dev/null")));
}

bool can_run_again(const std::vector<std::string>& command) {
  if (!is_compiler(command.front())) return false;
  return std::none_of(command.begin() + 1, command.end(),
                      [](const std::string& word) { return word == "-" || word == "/dev/stdin"; });
}

std::vector<std::string> outputs_of(const std::vector<std::string>& command) {
  std::vector<std::string> outputs;
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string& word = command[i];
    for (const std::string_view option : {"-o", "-MF"}) {
      if (word == option && i + 1 < command.size())
        outputs.push_back(command[++i]);
      else if (word.size() > option.size() && word.starts_with(option))
        outputs.push_back(word.substr(option.size()));
      else
        continue;
      break;
    }
  }
  return outputs;
}

NewOutputs::NewOutputs(const std::vector<std::string>& command) {
  for (std::string& output : outputs_of(command)) {
    struct stat about{};
    if (::lstat(output.c_str(), &about) != 0) missing_.push_back(std::move(output));
  }
}

void NewOutputs::remove() const {
  for (const std::string& output : missing_) {
    struct stat about{};
    if (::lstat(output.c_str(), &about) == 0 && S_ISREG(about.st_mode)) ::unlink(output.c_str());
  }
}

}  // namespace plimsoll::cli

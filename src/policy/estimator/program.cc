#include "policy/estimator/program.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "base/text.h"
#include "policy/job/among.h"

namespace plimsoll::policy {
namespace {

using WordSpan = std::span<const std::string>;

// A program that starts another: which of its short options take a word of their own, and how many
// words stand between its options and the command.
struct Wrapper {
  std::string_view name;
  std::string_view with_value;  // letters of short options whose value is the next word
  std::size_t operands = 0;
};
constexpr auto kWrappers = std::to_array<Wrapper>({
    {"ccache", ""},      {"chrt", "T", 1},   {"command", ""},    {"distcc", ""},
    {"env", "uCS"},      {"exec", "a"},      {"flock", "wE", 1}, {"icecc", ""},
    {"ionice", "cnp"},   {"nice", "n"},      {"nocache", "n"},   {"nohup", ""},
    {"numactl", "CNml"}, {"sccache", ""},    {"setsid", ""},     {"stdbuf", "ioe"},
    {"sudo", "ugC"},     {"taskset", "", 1}, {"time", "fo"},     {"timeout", "sk", 1},
    {"unbuffer", ""},
});

constexpr auto kShells = std::to_array<std::string_view>({"sh", "bash", "dash", "zsh", "ksh"});
constexpr auto kInterpreters = std::to_array<std::string_view>(
    {"python", "perl", "ruby", "Rscript", "node", "java", "sh", "bash", "dash", "zsh", "ksh"});
// Options of interpreters whose value is the next word.
constexpr auto kInterpreterValues =
    std::to_array<std::string_view>({"-W", "-X", "-I", "-r", "-cp", "-classpath", "--class-path"});
// What prepares a command and is none itself.
constexpr auto kPreparing = std::to_array<std::string_view>(
    {"cd", "set", "export", "source", ".", "ulimit", "umask", "module", "mkdir", ":", "true"});
// So many words of a command are looked at; no later one tells what the program is or does.
constexpr std::size_t kWordsRead = 4096;
// How deep `sh -c` within `sh -c` is looked into; beyond, the shell is the program.
constexpr int kNestingMax = 8;

bool is_option(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

// NAME=value.
bool is_assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0 || is_digit(word.front())) return false;
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
}

// Without a version ("gcc-12", "python3.11") and without the prefix of a cross compiler.
std::string_view plain_name(std::string_view path) {
  std::string_view name = base_name(path);
  const std::size_t end = name.find_last_not_of("0123456789.-");
  if (end != std::string_view::npos) name = name.substr(0, end + 1);
  constexpr auto kCrossed = std::to_array<std::string_view>(
      {"gcc", "g++", "c++", "cc", "ld", "ar", "clang", "clang++", "objcopy", "strip"});
  const std::size_t dash = name.rfind('-');
  if (dash != std::string_view::npos && among(kCrossed, name.substr(dash + 1))) {
    name = name.substr(dash + 1);
  }
  return name;
}

// What follows the options of a wrapper.
WordSpan past_options(WordSpan words, const Wrapper& wrapper) {
  std::size_t operands = wrapper.operands;
  while (!words.empty()) {
    const std::string_view word = words.front();
    if (word == "--") {
      words = words.subspan(1);
      break;
    }
    if (is_option(word)) {
      const bool takes_next = word.size() == 2 && word[1] != '-' &&
                              wrapper.with_value.find(word[1]) != std::string_view::npos;
      words = words.subspan(takes_next && words.size() > 1 ? 2 : 1);
    } else if (is_assignment(word)) {
      words = words.subspan(1);
    } else {
      break;
    }
  }
  return words.subspan(std::min(operands, words.size()));
}

// What follows `--`, or nothing: of Plimsoll itself only this is the command.
WordSpan past_dashes(WordSpan words) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  return dashes == words.end()
             ? WordSpan{}
             : words.subspan(static_cast<std::size_t>(dashes - words.begin()) + 1);
}

// The text that a shell is given by `-c`, in whatever bundle of options (`-ec`).
std::optional<std::string> shell_text(WordSpan arguments) {
  for (std::size_t i = 0; i + 1 < arguments.size() && is_option(arguments[i]); ++i) {
    if (arguments[i][1] != '-' && arguments[i].back() == 'c') return arguments[i + 1];
  }
  return std::nullopt;
}

Program interpreted(std::string_view name, WordSpan arguments) {
  Program program{.name = std::string(name), .script = {}, .arguments = {}};
  std::size_t i = 0;
  for (; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "-m" || word == "-jar") {
      ++i;
      break;
    }
    if (word == "-c" || word == "-e") {
      i = arguments.size();
      break;
    }
    if (!is_option(word)) break;
    if (among(kInterpreterValues, word)) {
      ++i;
    } else if (name == "java") {
      program.arguments.push_back(word);  // -Xmx says what it may take
    }
  }
  if (i >= arguments.size()) return program;
  program.script = base_name(arguments[i]);
  const WordSpan rest = arguments.subspan(i + 1);
  program.arguments.insert(program.arguments.end(), rest.begin(), rest.end());
  return program;
}

Program find_program(WordSpan words, int depth) {
  while (!words.empty() && is_assignment(words.front())) words = words.subspan(1);
  if (words.empty()) return {};
  const std::string_view name = plain_name(words.front());
  const WordSpan arguments = words.subspan(1);
  const auto* wrapper = std::find_if(kWrappers.begin(), kWrappers.end(),
                                     [name](const Wrapper& known) { return known.name == name; });
  if (wrapper != kWrappers.end()) {
    Program program = find_program(past_options(arguments, *wrapper), depth);
    if (!program.name.empty()) return program;
  } else if (name == "plimsoll") {
    Program program = find_program(past_dashes(arguments), depth);
    if (!program.name.empty()) return program;
  } else if (among(kShells, name) && depth < kNestingMax) {
    if (const auto text = shell_text(arguments)) {
      return find_program(first_command(*text), depth + 1);
    }
  }
  if (among(kInterpreters, name)) return interpreted(name, arguments);
  return {.name = std::string(name),
          .script = {},
          .arguments = std::vector<std::string>(arguments.begin(), arguments.end())};
}

// Reads one word of shell text, quotes and backslashes taken off; `i` is after it then.
std::string take_word(std::string_view text, std::size_t& i) {
  std::string word;
  char quote = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else if (c == '\\' && quote == '"' && i + 1 < text.size()) {
        word += text[++i];
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
    } else if (std::string_view(" \t\n;|&()<>").find(c) != std::string_view::npos) {
      break;
    } else {
      word += c;
    }
  }
  return word;
}

bool is_command(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& word) { return !is_assignment(word); }) &&
         !among(kPreparing, words.front());
}

}  // namespace

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::vector<std::string> first_command(std::string_view text) {
  std::vector<std::string> words;
  bool redirected = false;  // the next word is the file of a redirection
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == ' ' || c == '\t' || c == '(') {
      ++i;
    } else if (c == '<' || c == '>') {
      redirected = true;
      ++i;
      if (i < text.size() && text[i] == '&') ++i;
    } else if (c == ';' || c == '|' || c == '&' || c == '\n' || c == ')') {
      if (!words.empty() && is_command(words)) return words;
      words.clear();
      ++i;
    } else {
      std::string word = take_word(text, i);
      if (!redirected) words.push_back(std::move(word));
      redirected = false;
    }
  }
  return words;
}

Program program_of(const Command& command) {
  if (const auto* words = std::get_if<Words>(&command)) {
    return find_program(words->first(kWordsRead), 0);
  }
  return find_program(first_command(std::get<std::string>(command)), 0);
}

}  // namespace plimsoll::policy

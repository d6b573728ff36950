#include "supervisor/plain_command.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "base/may_wait.h"

namespace plimsoll::supervisor {
namespace {

// Reserved words, and what some shell that is /bin/sh somewhere has built in and does otherwise
// than the program of that name. Sorted.
constexpr std::array<std::string_view, 98> kOfShells = {
    ".",        ":",         "alias",   "autoload",  "bg",      "bind",      "break",    "builtin",
    "caller",   "case",      "cd",      "chdir",     "command", "compgen",   "complete", "compopt",
    "compound", "continue",  "coproc",  "declare",   "dirs",    "disown",    "do",       "done",
    "echo",     "elif",      "else",    "enable",    "enum",    "esac",      "eval",     "exec",
    "exit",     "export",    "false",   "fc",        "fg",      "fi",        "float",    "for",
    "function", "functions", "getopts", "global",    "hash",    "help",      "hist",     "history",
    "if",       "in",        "integer", "jobs",      "kill",    "let",       "local",    "login",
    "logout",   "mapfile",   "nameref", "namespace", "newgrp",  "nohup",     "popd",     "print",
    "printf",   "pushd",     "pwd",     "r",         "read",    "readarray", "readonly", "realpath",
    "redirect", "rename",    "return",  "select",    "set",     "shift",     "shopt",    "source",
    "stop",     "suspend",   "test",    "then",      "time",    "times",     "trap",     "true",
    "type",     "typeset",   "ulimit",  "umask",     "unalias", "unset",     "until",    "wait",
    "whence",   "while"};

constexpr std::string_view kBlanks = " \t";

// Characters that mean themselves in a word, to every shell.
bool is_literal(char c) {
  constexpr std::string_view kMarks = "_@%+=:,./-";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kMarks.find(c) != std::string_view::npos;
}

bool is_plain_text(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return is_literal(c) || kBlanks.find(c) != std::string_view::npos; });
}

// No option of the shell, no job of its own, no assignment, and nothing that it does itself.
bool names_program(std::string_view word) {
  constexpr std::string_view kNotFirst = "-+%";
  return kNotFirst.find(word.front()) == std::string_view::npos &&
         word.find('=') == std::string_view::npos && !std::ranges::binary_search(kOfShells, word);
}

// Variables by which a shell behaves otherwise, or which it sets for itself.
constexpr std::array<std::string_view, 4> kReadByShells = {
    "IFS=", "OPTIND=", "PPID=", "SHELLOPTS="};

bool is_read_by_shells(std::string_view variable) {
  return std::ranges::any_of(
      kReadByShells, [variable](std::string_view name) { return variable.starts_with(name); });
}

constexpr std::string_view kDirectory = "PWD=";

// A path without links to the directory itself or the one above, which bash would resolve.
bool is_resolved(std::string_view path) {
  const std::string whole = std::string(path) + "/";
  return whole.find("/./") == std::string::npos && whole.find("/../") == std::string::npos;
}

bool is_working_directory(const char* path) {
  struct stat named{}, here{};
  return *path == '/' && ::stat(path, &named) == 0 && ::stat(".", &here) == 0 &&
         named.st_dev == here.st_dev && named.st_ino == here.st_ino;
}

}  // namespace

std::optional<Words> plain_words(std::string_view shell_command) {
  if (shell_command.size() > kPlainMax || !is_plain_text(shell_command)) return std::nullopt;
  WordsBuilder words;
  std::string_view left = shell_command;
  for (;;) {
    left.remove_prefix(std::min(left.find_first_not_of(kBlanks), left.size()));
    if (left.empty()) break;
    const std::string_view word = left.substr(0, left.find_first_of(kBlanks));
    if (words.size() == 0 && !names_program(word)) return std::nullopt;
    words.add(word);
    left.remove_prefix(word.size());
  }
  if (words.size() == 0) return std::nullopt;
  return words.take();
}

PlainCommands::PlainCommands() {
  may_wait("PlainCommands");
  const char* name = std::getenv("PWD");
  if (name == nullptr || !is_resolved(name) || !is_working_directory(name)) return;
  directory_ = std::string(kDirectory) + name;
}

bool PlainCommands::is_plain(const Words& environment, std::string_view program) const {
  constexpr std::string_view kPath = "PATH=";
  const std::string function = "BASH_FUNC_" + std::string(program) + "%%=";
  std::size_t directories = 0, paths = 0;
  for (const std::string_view variable : environment) {
    if (variable.starts_with(function) || is_read_by_shells(variable)) return false;
    if (variable.starts_with(kDirectory)) {
      if (variable != directory_) return false;
      ++directories;
    }
    if (variable.starts_with(kPath)) ++paths;
  }
  return directories == 1 && paths == 1;
}

Words PlainCommands::words_of(const policy::Command& command,
                              const guardian::SpawnRequest& request) const {
  const auto* shell = std::get_if<std::string>(&command);
  if (shell == nullptr || directory_.empty() || !request.cwd.empty() || request.identity) return {};
  auto words = plain_words(*shell);
  if (!words || !is_plain(request.env, words->front())) return {};
  return std::move(*words);
}

}  // namespace plimsoll::supervisor

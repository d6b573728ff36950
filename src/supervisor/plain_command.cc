#include "supervisor/plain_command.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <string>

namespace plimsoll::supervisor {
namespace {

// Reserved words, and what some shell that is /bin/sh somewhere has built in: it may do something
// else than the program of that name. Sorted.
constexpr std::array<std::string_view, 94> kOfShells = {
    ".",         ":",         "alias",    "autoload", "bg",       "bind",    "break",    "builtin",
    "caller",    "case",      "cd",       "chdir",    "command",  "compgen", "complete", "compopt",
    "continue",  "coproc",    "declare",  "dirs",     "disown",   "do",      "done",     "echo",
    "elif",      "else",      "enable",   "enum",     "esac",     "eval",    "exec",     "exit",
    "export",    "false",     "fc",       "fg",       "fi",       "float",   "for",      "function",
    "functions", "getopts",   "hash",     "help",     "hist",     "history", "if",       "in",
    "integer",   "jobs",      "kill",     "let",      "local",    "login",   "logout",   "mapfile",
    "nameref",   "namespace", "newgrp",   "popd",     "print",    "printf",  "pushd",    "pwd",
    "read",      "readarray", "readonly", "realpath", "redirect", "rename",  "return",   "select",
    "set",       "shift",     "shopt",    "source",   "stop",     "suspend", "test",     "then",
    "time",      "times",     "trap",     "true",     "type",     "typeset", "ulimit",   "umask",
    "unalias",   "unset",     "until",    "wait",     "whence",   "while"};

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

// No option of the shell, no assignment, and nothing that it does itself.
bool names_program(std::string_view word) {
  return word.front() != '-' && word.front() != '+' && word.find('=') == std::string_view::npos &&
         !std::ranges::binary_search(kOfShells, word);
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

bool is_plain(const Words& environment) {
  constexpr std::string_view kDirectory = "PWD=", kPrograms = "PATH=", kFunction = "BASH_FUNC_";
  const char* directory = nullptr;
  bool has_programs = false;
  for (const std::string_view variable : environment) {
    if (variable.starts_with(kFunction)) return false;
    if (variable.starts_with(kDirectory)) directory = variable.data() + kDirectory.size();
    has_programs = has_programs || variable.starts_with(kPrograms);
  }
  return has_programs && directory != nullptr && is_working_directory(directory);
}

}  // namespace plimsoll::supervisor

#include "policy/job.h"

namespace plimsoll::policy {
namespace {

// Single quotes where a shell would see more than a plain word.
void append_quoted(std::string& line, std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%^";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
    line += word;
    return;
  }
  line += '\'';
  for (const char c : word) {
    if (c == '\'') {
      line += "'\\''";
    } else {
      line += c;
    }
  }
  line += '\'';
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::exited: return "exited";
    case Outcome::signalled: return "signalled";
    case Outcome::over_limit: return "over_limit";
    case Outcome::over_line: return "over_line";
    case Outcome::evicted: return "evicted";
    case Outcome::machine_oom: return "machine_oom";
    case Outcome::timed_out: return "timed_out";
    case Outcome::cancelled: return "cancelled";
    case Outcome::failed_to_start: return "failed_to_start";
    case Outcome::skipped: return "skipped";
  }
  return {};
}

std::string command_line(const Command& command) {
  if (const auto* shell = std::get_if<std::string>(&command)) return *shell;
  std::string line;
  for (const std::string& word : std::get<std::vector<std::string>>(command)) {
    if (!line.empty()) line += ' ';
    append_quoted(line, word);
  }
  return line;
}

}  // namespace plimsoll::policy

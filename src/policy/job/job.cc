#include "policy/job/job.h"

#include <algorithm>

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

void replace_slot_marks(std::string& text, std::string_view with) {
  for (std::size_t at = text.find(kSlotMark); at != std::string::npos;
       at = text.find(kSlotMark, at + with.size())) {
    text.replace(at, 1, with);
  }
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

Command fill_slot(Command command, unsigned slot) {
  const std::string number = std::to_string(slot);
  if (auto* shell = std::get_if<std::string>(&command)) {
    replace_slot_marks(*shell, number);
    return command;
  }
  const auto& words = std::get<Words>(command);
  if (words.block().find(kSlotMark) == std::string_view::npos) return command;
  std::vector<std::string> filled = words.all();
  for (std::string& word : filled) replace_slot_marks(word, number);
  return Words(filled);
}

JobSpec within_reach(JobSpec job, Bytes line, double cores) {
  if (job.memory_hint) job.memory_hint = std::min(*job.memory_hint, line);
  if (job.cpu_hint) job.cpu_hint = std::min(*job.cpu_hint, cores);
  return job;
}

std::string command_line(const Command& command) {
  std::string line;
  if (const auto* shell = std::get_if<std::string>(&command)) {
    line = *shell;
  } else {
    for (const std::string_view word : std::get<Words>(command)) {
      if (!line.empty()) line += ' ';
      append_quoted(line, word);
    }
  }
  replace_slot_marks(line, "{%}");
  return line;
}

std::string command_start(const Command& command, std::size_t bytes_max) {
  std::string line;
  if (const auto* shell = std::get_if<std::string>(&command)) {
    line = shell->substr(0, bytes_max);
  } else {
    for (const std::string_view word : std::get<Words>(command)) {
      if (line.size() >= bytes_max) break;
      if (!line.empty()) line += ' ';
      append_quoted(line, word.substr(0, bytes_max));
    }
  }
  replace_slot_marks(line, "{%}");
  line.resize(std::min(line.size(), bytes_max));
  return line;
}

}  // namespace plimsoll::policy

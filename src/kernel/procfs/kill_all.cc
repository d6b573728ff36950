#include "kernel/procfs/kill_all.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include "base/may_wait.h"

namespace plimsoll::procfs {
namespace {

// From a kill to the next look: most are dead in less; a look costs some milliseconds itself.
constexpr int kFirstWaitMs = 2;
constexpr int kLastWaitMs = 250;

std::vector<Stat> everybody(const Membership& membership) {
  std::vector<Stat> all;
  for (const FamilyId family : membership.families()) {
    for (const auto& [pid, stat] : membership.members(family)) all.push_back(stat);
  }
  return all;
}

bool lives(const Table& table, const Id& id) {
  const auto entry = table.find(id.pid);
  return entry != table.end() && entry->second.id == id;
}

std::string marks_of(const ProcDir& proc, int pid) {
  const auto environ = proc.read(pid, "environ");
  const auto value = environ ? find_variable(*environ, kTagVariable) : std::nullopt;
  return value ? std::string(*value) : std::string();
}

// A mark of each run whose two processes are gone, that any process has as its innermost.
std::vector<EnvTag> abandoned_marks(const ProcDir& proc, const Table& table) {
  std::vector<EnvTag> marks;
  const auto space = proc.pid_space(::getpid());
  if (!space) return marks;
  const std::string own = marks_of(proc, ::getpid());
  for (const auto& [pid, stat] : table) {
    const auto mark = last_mark(marks_of(proc, pid));
    if (!mark || mark->space != *space || find_mark(own, *mark)) continue;
    if (lives(table, mark->guardian) || lives(table, mark->supervisor)) continue;
    const auto same = [&mark](const EnvTag& other) { return is_same_run(other, *mark); };
    if (std::none_of(marks.begin(), marks.end(), same)) marks.push_back(*mark);
  }
  return marks;
}

}  // namespace

Left kill_all(ProcessScanner& process_scanner, Instant deadline, Instant (*clock)()) {
  may_wait("hunt");
  Left left;
  int clean_looks = 0;
  for (int wait = kFirstWaitMs;; wait = std::min(2 * wait, kLastWaitMs)) {
    if (auto looked = process_scanner.look(); !looked) {
      left.trouble = looked.error();
      return left;
    }
    left.processes = everybody(process_scanner.membership());
    clean_looks = left.processes.empty() ? clean_looks + 1 : 0;
    if (clean_looks == 2) return left;
    if (clean_looks == 1) continue;
    if (clock() >= deadline) return left;
    for (const FamilyId family : process_scanner.membership().families()) {
      if (process_scanner.membership().members(family).empty()) continue;
      const Round round = process_scanner.kill(family);
      if (round.trouble) left.trouble = round.trouble;
    }
    ::poll(nullptr, 0, wait);
  }
}

std::vector<Abandoned> kill_abandoned(Instant deadline, Instant (*clock)()) {
  std::vector<Abandoned> runs;
  auto proc = ProcDir::open();
  auto table = proc ? proc->read_table() : Result<Table>(pass(std::move(proc)));
  if (!table) return runs;
  const std::vector<EnvTag> marks = abandoned_marks(*proc, *table);
  for (const EnvTag& mark : marks) {
    if (clock() >= deadline) {
      const auto others = static_cast<std::size_t>(marks.data() + marks.size() - &mark) - 1;
      Error late{{}, "there was no time for them"};
      if (others > 0) late.what += ", nor for those of " + std::to_string(others) + " more";
      runs.push_back({mark.run, {.processes = {}, .trouble = std::move(late)}});
      break;
    }
    auto process_scanner = ProcessScanner::open({.guardian = mark.guardian,
                                                 .supervisor = mark.supervisor,
                                                 .run = mark.run,
                                                 .space = mark.space,
                                                 .foreign = {}});
    if (!process_scanner) continue;
    process_scanner->membership().guardian_ended();
    runs.push_back({mark.run, kill_all(*process_scanner, deadline, clock)});
  }
  return runs;
}

}  // namespace plimsoll::procfs

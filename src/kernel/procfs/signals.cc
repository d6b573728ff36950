#include "kernel/procfs/signals.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <set>

#include "base/unique_fd.h"

namespace plimsoll::procfs {
namespace {

// PIDFD_SIGNAL_PROCESS_GROUP of linux/pidfd.h since 6.9; the group of the process, as it is now.
constexpr unsigned kWholeGroup = 1U << 2;

// System calls of Linux 5.3 and 5.1, by number: <sys/pidfd.h> of glibc 2.36 can't be used from C++.
bool send_by_pidfd(int pidfd, int signal, unsigned flags) {
  return ::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, flags) == 0;
}

// A pidfd of the very process that was seen; gone() if that is no more.
Result<UniqueFd> hold(const ProcDir& proc, const Id& id) {
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, id.pid, 0U)));
  if (!pidfd) return fail_errno("open a pidfd of process " + std::to_string(id.pid));
  auto now = proc.read_stat(id.pid);
  if (!now) return pass(std::move(now));
  if (now->id != id) return fail(std::errc::no_such_process, "find a process again");
  return pidfd;
}

void note(std::optional<Error>& first, Error error) {
  if (!first && !error.gone()) first = std::move(error);
}

}  // namespace

Round send_to(const ProcDir& proc, const std::vector<Stat>& targets, int signal,
              std::optional<std::uint32_t> user) {
  Round round;
  for (const Stat& target : targets) {
    auto held = hold(proc, target.id);
    if (!held) {
      note(round.trouble, held.error());
    } else if (user && !user_may_signal(*user, target.id.pid)) {
      continue;
    } else if (send_by_pidfd(held->get(), signal, 0)) {
      ++round.sent;
    } else {
      note(round.trouble, fail_errno("signal process " + std::to_string(target.id.pid)).value());
    }
  }
  return round;
}

void send_to_groups(const ProcDir& proc, const Table& table, const std::map<int, Stat>& targets,
                    int signal) {
  std::map<int, Id> groups;  // with one member each
  for (const auto& [pid, stat] : targets) groups.emplace(stat.group, stat.id);
  for (const auto& [pid, stat] : table) {
    if (!targets.contains(pid)) groups.erase(stat.group);
  }
  for (const auto& [group, member] : groups) {
    if (const auto held = hold(proc, member)) send_by_pidfd(held->get(), signal, kWholeGroup);
  }
}

}  // namespace plimsoll::procfs

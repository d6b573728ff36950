#include "kernel/cgroup/signals.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <span>

#include "base/unique_fd.h"
#include "kernel/cgroup/processes.h"
#include "kernel/cgroup/subtree.h"
#include "kernel/procfs/table.h"

namespace plimsoll::cgroup {
namespace {

// Processes held by pidfd between the two looks at the list: a quarter of the usual limit of 1024
// descriptors. A longer list is taken in several batches.
constexpr std::size_t kBatch = 256;

// System calls of Linux 5.3 and 5.1, by number: <sys/pidfd.h> of glibc 2.36 can't be used from C++.
int open_pidfd(int pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

bool send_by_pidfd(int pidfd, int signal) {
  return ::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0) == 0;
}

struct Held {
  int pid = 0;
  UniqueFd pidfd;
};

void note(std::optional<Error>& first, Error error) {
  if (!first && !error.gone()) first = std::move(error);
}

// Opens pidfds for `pids` from the front and takes them off; fewer when descriptors run out.
std::vector<Held> hold(std::span<const int>& pids, std::optional<Error>& trouble) {
  std::vector<Held> held;
  while (!pids.empty() && held.size() < kBatch) {
    UniqueFd pidfd(open_pidfd(pids.front()));
    if (!pidfd) {
      const auto failed = fail_errno("open a pidfd of process " + std::to_string(pids.front()));
      const bool full = failed.value().code == std::errc::too_many_files_open;
      if (full && !held.empty()) break;  // the rest after these are closed
      note(trouble, failed.value());
    } else {
      held.push_back({pids.front(), std::move(pidfd)});
    }
    pids = pids.subspan(1);
  }
  return held;
}

void signal_members(const Directory& directory, int signal, std::optional<std::uint32_t> user,
                    SignalRound& round, const std::vector<int>& known) {
  auto listed = member_processes(directory);
  if (!listed) return note(round.trouble, std::move(listed).error());
  std::vector<int> fresh;
  std::set_difference(listed->begin(), listed->end(), known.begin(), known.end(),
                      std::back_inserter(fresh));
  std::erase(fresh, ::getpid());

  std::span<const int> rest = fresh;
  while (!rest.empty()) {
    const std::vector<Held> held = hold(rest, round.trouble);
    if (held.empty()) continue;
    const auto still = member_processes(directory);
    if (!still) return note(round.trouble, still.error());
    for (const Held& process : held) {
      if (!std::binary_search(still->begin(), still->end(), process.pid)) continue;
      round.found.push_back(process.pid);
      if (user && !procfs::user_may_signal(*user, process.pid)) continue;
      if (send_by_pidfd(process.pidfd.get(), signal)) {
        ++round.signals;
      } else {
        note(round.trouble, fail_errno("signal process " + std::to_string(process.pid)).value());
      }
    }
  }
}

}  // namespace

SignalRound signal_all(const Group& group, int signal, std::optional<std::uint32_t> user) {
  SignalRound round;
  std::vector<int> known;
  for (const Group::Part& part : group.parts()) {
    auto visited = visit_subtree(part.directory, [&](const Directory& directory) {
      signal_members(directory, signal, user, round, known);
    });
    if (!visited) note(round.trouble, std::move(visited).error());
    std::sort(round.found.begin(), round.found.end());
    known = round.found;
  }
  return round;
}

}  // namespace plimsoll::cgroup

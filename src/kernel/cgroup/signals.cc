#include "kernel/cgroup/signals.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/unique_fd.h"
#include "kernel/cgroup/processes.h"
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

// Opens pidfds for `pids` from the end and takes them off; fewer when descriptors run out.
std::vector<Held> hold(std::vector<int>& pids, std::optional<Error>& trouble) {
  std::vector<Held> held;
  while (!pids.empty() && held.size() < kBatch) {
    UniqueFd pidfd(open_pidfd(pids.back()));
    if (!pidfd) {
      const auto failed = fail_errno("open a pidfd of process " + std::to_string(pids.back()));
      const bool full = failed.value().code == std::errc::too_many_files_open;
      if (full && !held.empty()) break;  // the rest after these are closed
      note(trouble, failed.value());
    } else {
      held.push_back({pids.back(), std::move(pidfd)});
    }
    pids.pop_back();
  }
  return held;
}

}  // namespace

SignalWalk::SignalWalk(const Group& group, int signal, std::optional<std::uint32_t> user)
    : walk_(group), signal_(signal), user_(user) {}

bool SignalWalk::step() {
  std::size_t met = 0;
  for (std::size_t steps = 0; steps < GroupWalk::kSteps && met < kBatch; ++steps) {
    if (!rest_.empty()) {
      met += signal_some();
      continue;
    }
    switch (walk_.next()) {
      case GroupWalk::Step::entered: list(); break;
      case GroupWalk::Step::passed: break;
      case GroupWalk::Step::part_ended:
        std::sort(round_.found.begin(), round_.found.end());
        known_ = round_.found;
        break;
      case GroupWalk::Step::ended:
        if (!walk_.trouble()) note(round_.trouble, walk_.trouble().error());
        return false;
    }
  }
  return true;
}

void SignalWalk::list() {
  auto listed = member_processes(walk_.here());
  if (!listed) return note(round_.trouble, std::move(listed).error());
  std::set_difference(listed->begin(), listed->end(), known_.begin(), known_.end(),
                      std::back_inserter(rest_));
  std::erase(rest_, ::getpid());
  std::reverse(rest_.begin(), rest_.end());
}

// How many were looked at.
std::size_t SignalWalk::signal_some() {
  const std::size_t listed = rest_.size();
  const std::vector<Held> held = hold(rest_, round_.trouble);
  const std::size_t met = listed - rest_.size();
  if (held.empty()) return met;
  const auto still = member_processes(walk_.here());
  if (!still) {
    rest_.clear();
    note(round_.trouble, still.error());
    return met;
  }
  for (const Held& process : held) {
    if (!std::binary_search(still->begin(), still->end(), process.pid)) continue;
    round_.found.push_back(process.pid);
    if (user_ && !procfs::user_may_signal(*user_, process.pid)) continue;
    if (send_by_pidfd(process.pidfd.get(), signal_)) {
      ++round_.signals;
    } else {
      note(round_.trouble, fail_errno("signal process " + std::to_string(process.pid)).value());
    }
  }
  return met;
}

SignalRound signal_all(const Group& group, int signal, std::optional<std::uint32_t> user) {
  SignalWalk walk(group, signal, user);
  while (walk.step()) {
  }
  return walk.take();
}

}  // namespace plimsoll::cgroup

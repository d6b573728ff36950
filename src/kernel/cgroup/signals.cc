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
// Directories that one step enters, some ten microseconds each.
constexpr std::size_t kDirectoriesMax = 64;

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
    : group_(group), signal_(signal), user_(user) {}

bool SignalWalk::step() {
  for (std::size_t entered = 0; entered < kDirectoriesMax; ++entered) {
    if (!rest_.empty()) {
      signal_some();
      return true;
    }
    if (!enter_next()) return false;
  }
  return true;
}

// False: all parts have been gone through.
bool SignalWalk::enter_next() {
  if (here_ == nullptr) {
    if (part_ == group_.parts().size()) return false;
    here_ = &group_.parts()[part_].directory;
    if (may_have_children(*here_)) below_.emplace(*here_);
    list();
    return true;
  }
  if (!below_) {
    end_part();
    return true;
  }
  const SubtreeWalk::Step step = below_->next();
  if (step == SubtreeWalk::Step::entered) {
    here_ = &below_->here();
    list();
  } else if (step == SubtreeWalk::Step::ended) {
    if (!below_->trouble()) note(round_.trouble, below_->trouble().error());
    end_part();
  }
  return true;
}

void SignalWalk::end_part() {
  ++part_;
  here_ = nullptr;
  below_.reset();
  std::sort(round_.found.begin(), round_.found.end());
  known_ = round_.found;
}

void SignalWalk::list() {
  auto listed = member_processes(*here_);
  if (!listed) return note(round_.trouble, std::move(listed).error());
  std::set_difference(listed->begin(), listed->end(), known_.begin(), known_.end(),
                      std::back_inserter(rest_));
  std::erase(rest_, ::getpid());
}

void SignalWalk::signal_some() {
  const std::vector<Held> held = hold(rest_, round_.trouble);
  if (held.empty()) return;
  const auto still = member_processes(*here_);
  if (!still) {
    rest_.clear();
    return note(round_.trouble, still.error());
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
}

SignalRound signal_all(const Group& group, int signal, std::optional<std::uint32_t> user) {
  SignalWalk walk(group, signal, user);
  while (walk.step()) {
  }
  return walk.take();
}

}  // namespace plimsoll::cgroup

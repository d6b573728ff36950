#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "kernel/cgroup/group.h"

namespace plimsoll::cgroup {

// One round of a signal over a group.
struct SignalRound {
  std::vector<int> found;        // the pids met, ascending
  std::size_t signals = 0;       // processes that were sent the signal
  std::optional<Error> trouble;  // the first failure that is not "gone"
};

// Whether a process may be signalled; asked while a pidfd of it is held.
using MaySignal = std::function<bool(int pid)>;

// Sends a signal to every process in the parts of `group` and below them, each once. A process is
// signalled through a pidfd, and only if it is still a member after the pidfd was opened: a pid
// names the same process in both lists, or one that has died and can't be hit. The caller's own
// process is left out, and whom `may_signal` refuses; empty, it refuses nobody.
SignalRound signal_all(const Group& group, int signal, const MaySignal& may_signal = {});

}  // namespace plimsoll::cgroup

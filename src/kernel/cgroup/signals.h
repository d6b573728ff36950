#pragma once

#include <cstddef>
#include <cstdint>
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

// Sends a signal to every process in the parts of `group` and below them, each once. A process is
// signalled through a pidfd, and only if it is still a member after the pidfd was opened: a pid
// names the same process in both lists, or one that has died and can't be hit. The caller's own
// process is left out, and so are those that `user` could not signal, as is asked while that
// pidfd is held; absent: nobody is left out for that.
SignalRound signal_all(const Group& group, int signal, std::optional<std::uint32_t> user = {});

}  // namespace plimsoll::cgroup

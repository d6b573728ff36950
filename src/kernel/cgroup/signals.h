#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "kernel/cgroup/group.h"
#include "kernel/cgroup/group_walk.h"

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

// The same bit by bit, for a thread that has others to serve in between.
class SignalWalk {
 public:
  // `group` must outlive this.
  SignalWalk(const Group& group, int signal, std::optional<std::uint32_t> user = {});
  SignalWalk(const SignalWalk&) = delete;
  SignalWalk& operator=(const SignalWalk&) = delete;
  ~SignalWalk() = default;

  // Goes on for some milliseconds, over some directories and some processes: small groups are
  // through with one. Returns whether anything is left.
  bool step();
  // What was done so far.
  [[nodiscard]] SignalRound take() { return std::move(round_); }

 private:
  void list();
  std::size_t signal_some();

  GroupWalk walk_;
  int signal_;
  std::optional<std::uint32_t> user_;
  SignalRound round_;
  // Of those in this directory, the next is the last: the oldest, as a rule. A parent is to act on
  // a signal before it sees that its children have ended by it.
  std::vector<int> rest_;
  std::vector<int> known_;  // found in earlier parts
};

}  // namespace plimsoll::cgroup

#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/loop/worker.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "kernel/cgroup/group.h"

namespace plimsoll::supervisor {

// Moves processes between groups on a thread of its own, in the order asked for: each move waits
// for the kernel. `done` is called from the loop.
class Mover {
 public:
  explicit Mover(const loop::Loop& loop) : worker_(loop) {}

  // Those that live below the process come with it or not.
  enum class Below : std::uint8_t { stay, come };
  struct Process {
    int pid = 0;
    UniqueFd pidfd;  // of the same: by the time of the move its number may be another's
    Below below = Below::stay;
  };
  // The process itself has to get there; gone() if it has ended.
  void move(Process process, std::shared_ptr<const cgroup::Leaf> into,
            std::function<void(const Result<void>&)> done);
  // All that live in the one group go into the other, as far as kRounds looks find them.
  void empty(std::shared_ptr<const cgroup::Group> group, std::shared_ptr<const cgroup::Leaf> into,
             std::function<void()> done);
  // One in which somebody lives stays, and goes with the run's own. Null: nothing happens.
  void remove(std::shared_ptr<const cgroup::Leaf> group);

  // Processes that fork while they are moved are met by the next round.
  static constexpr int kRounds = 16;

 private:
  loop::Worker worker_;
};

}  // namespace plimsoll::supervisor

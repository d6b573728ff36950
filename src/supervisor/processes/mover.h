#pragma once

#include <functional>
#include <memory>

#include "base/loop/worker.h"
#include "base/result.h"
#include "kernel/cgroup/group.h"
#include "supervisor/processes/place.h"

namespace plimsoll::supervisor {

// Moves processes between groups on a thread of its own, in the order asked for: each move waits
// for the kernel. `done` is called from the loop.
class Mover {
 public:
  explicit Mover(const loop::Loop& loop) : worker_(loop) {}

  // The process itself has to get there; gone() if it has ended. Of those below it only those come
  // that live in its groups.
  void move(Newcomer process, std::shared_ptr<const cgroup::Leaf> into,
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

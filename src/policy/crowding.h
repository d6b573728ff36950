#pragma once

#include <optional>
#include <vector>

#include "policy/fleet.h"
#include "policy/processors.h"
#include "policy/ruling.h"

namespace plimsoll::policy {

// The run queue is long when so many tasks want each core: each then runs a quarter of the time,
// and what it left in the caches is gone when its turn comes. A guess.
inline constexpr double kQueueLong = 4;
// For so long without a break: the crowd of short processes that a build starts is over before.
inline constexpr Duration kQueuePersists = std::chrono::seconds(30);
// One job is frozen at a time; so long it takes until the smoothed figures show what came of it.
inline constexpr Duration kQueueGap = 2 * kCoresShown;
// It goes on when the tasks that want each core are so few with it.
inline constexpr double kQueueShort = 2;
// Who uses less of a core is not what the queue is made of.
inline constexpr double kComputes = 0.5;

// Freezes jobs while far more tasks want to run than there are cores, the last started first. As
// many as there are cores always go on: others may keep the machine busy for ever.
class Crowding {
 public:
  // Appends what is to be done and marks it in the fleet. O(1) unless the queue is long.
  void relieve(Fleet& fleet, double cores, const Processors& processors, Instant now,
               std::vector<Ruling>& rulings);

  // Whether there are cores enough for a member that was frozen for them. `runnable`: tasks,
  // smoothed.
  [[nodiscard]] static bool has_room(const Member& member, double cores,
                                     std::optional<double> runnable);

 private:
  std::optional<Instant> long_since_;
  std::optional<Instant> last_;  // frozen
};

}  // namespace plimsoll::policy

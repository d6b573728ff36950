#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/units.h"
#include "kernel/monitor/reading.h"

namespace plimsoll::monitor {

// The gap between two looks at the pool and the machine.
inline constexpr Duration kGapMin = std::chrono::milliseconds(5);
inline constexpr Duration kGapMax = std::chrono::milliseconds(250);
// So many looks fit in before a bound is reached at the rate that is assumed.
inline constexpr int kLooksBefore = 4;
// Growth can double between two looks: jobs start together.
inline constexpr double kGrowthAhead = 2;
// Bytes a second that may come unannounced: with an event monitor, whose alarm is not to be needed
// for growth up to this; without one, as much as a core or two can touch.
inline constexpr double kBurstWatched = 400e6;
inline constexpr double kBurstUnwatched = 4e9;
// Looks take at most this share of a core: a look at many jobs is made less often. But one that was
// slow, as it led to many starts, blinds nobody for longer than kGapCostMax.
inline constexpr double kLookShare = 0.1;
inline constexpr Duration kGapCostMax = std::chrono::milliseconds(50);
// Two looks closer together than this say nothing of growth: counters move in batches.
inline constexpr Duration kGrowthSpan = std::chrono::milliseconds(4);

// Whether something else wakes us when memory gets near a bound all at once.
enum class Backing : std::uint8_t { event, none };

// When the next look is due: soon where memory grows towards a bound, seldom far from it. Pure.
class PollInterval {
 public:
  // After a look that took `cost` of CPU time: how long until the next.
  [[nodiscard]] Duration after(const Reading& reading, Duration cost, Backing backing);

  // Towards the nearer bound, bytes a second, as it was last seen; rises at once, falls by half
  // with each look.
  [[nodiscard]] double growth() const { return growth_; }

 private:
  void follow(Instant at, Bytes headroom);

  std::optional<Instant> seen_;
  Bytes headroom_{};
  double growth_ = 0;
};

}  // namespace plimsoll::monitor

#include "kernel/monitor/poll_interval.h"

#include <algorithm>

namespace plimsoll::monitor {
namespace {

Duration from_seconds(double span) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(span));
}

}  // namespace

void PollInterval::follow(Instant at, Bytes headroom) {
  if (seen_) {
    const Duration span = at - *seen_;
    if (span < kGrowthSpan) return;
    const double growth = static_cast<double>((headroom_ - headroom).count) / to_seconds(span);
    growth_ = std::max(growth, (growth + growth_) / 2);
  }
  seen_ = at;
  headroom_ = headroom;
}

Duration PollInterval::after(const Reading& reading, Duration cost, Backing backing) {
  const Duration least =
      std::clamp(from_seconds(to_seconds(cost) / kLookShare), kGapMin, kGapCostMax);
  const auto headroom = headroom_of(reading);
  if (!headroom) return kGapMax;
  follow(reading.at, *headroom);
  const double burst = backing == Backing::event ? kBurstWatched : kBurstUnwatched;
  const double rate = std::max(growth_ * kGrowthAhead, burst);
  const Duration gap = from_seconds(static_cast<double>(headroom->count) / rate / kLooksBefore);
  return std::max(least, std::min(gap, kGapMax));
}

}  // namespace plimsoll::monitor

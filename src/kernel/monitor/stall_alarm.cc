#include "kernel/monitor/stall_alarm.h"

#include <utility>

#include "base/quantity.h"

namespace plimsoll::monitor {
namespace {}  // namespace

std::optional<Alarm> StallAlarm::observe(Instant at, Duration stalled) {
  if (last_ && at - last_->at < kStallSpan) return std::nullopt;
  const auto before = std::exchange(last_, Seen{at, stalled});
  if (!before || stalled < before->stalled) {
    since_.reset();
    return std::nullopt;
  }
  const double share = to_seconds(stalled - before->stalled) / to_seconds(at - before->at);
  if (share < kStallShare) since_.reset();
  if (share < kStallShare / 2) told_ = false;
  if (share < kStallShare || told_) return std::nullopt;
  if (!since_) since_ = before;
  const Duration lasted = at - since_->at;
  if (lasted < kStallLasts) return std::nullopt;
  told_ = true;
  const Duration sum = stalled - since_->stalled;
  return Alarm{.monitor = "pressure",
               .reason = "some tasks were stalled on memory for " + format_duration(sum) +
                         " of the last " + format_duration(lasted),
               .numbers = {{"stalled_s", to_seconds(sum)}, {"within_s", to_seconds(lasted)}}};
}

}  // namespace plimsoll::monitor

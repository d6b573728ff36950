#include "supervisor/system_record.h"

#include "supervisor/wall_clock.h"

namespace plimsoll::supervisor {

SystemRecord::SystemRecord(loop::Loop& loop)
    : timer_(loop.timer([this] {
        const Instant now = loop::now();
        look(now);
        series_.add(latest_);
        if (observer_ != nullptr) observer_->on_system_sample(latest_);
        timer_.set(now + kInterval);
      })) {
  const Instant now = loop::now();
  look(now);
  series_.add(latest_);
  timer_.set(now + kInterval);
}

const counters::SystemSample& SystemRecord::now() {
  const Instant now = loop::now();
  if (now - latest_.at >= kFreshness) look(now);
  return latest_;
}

const counters::SystemSeries& SystemRecord::finish() {
  look(loop::now());
  series_.add(latest_);
  return series_;
}

void SystemRecord::look(Instant now) { latest_ = sampler_.sample(now, wall_now()); }

}  // namespace plimsoll::supervisor

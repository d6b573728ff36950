#include "engine/system_record.h"

#include "engine/wall_clock.h"

namespace plimsoll::engine {

SystemRecord::SystemRecord(Machine& machine)
    : timer_(machine.loop().timer([this] {
        const Instant now = loop::now();
        look(now);
        series_.add(latest_);
        if (on_sample_) on_sample_(latest_);
        timer_.set(now + kInterval);
      })) {
  const Instant now = loop::now();
  look(now);
  series_.add(latest_);
  timer_.set(now + kInterval);
}

const measure::SystemSample& SystemRecord::now() {
  const Instant now = loop::now();
  if (now - latest_.at >= kFreshness) look(now);
  return latest_;
}

const measure::SystemSeries& SystemRecord::finish() {
  look(loop::now());
  series_.add(latest_);
  return series_;
}

void SystemRecord::look(Instant now) { latest_ = sampler_.sample(now, wall_now()); }

}  // namespace plimsoll::engine

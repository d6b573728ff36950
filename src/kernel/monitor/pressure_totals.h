#pragma once

#include "kernel/monitor/monitor.h"
#include "kernel/monitor/stall_alarm.h"

namespace plimsoll::monitor {

// Follows the stall totals that come with the looks, where no trigger can be had. Looks are never
// further apart than kStallLasts then.
class PressureTotals final : public Monitor {
 public:
  std::optional<Alarm> observe(const Reading& reading) override {
    if (!reading.stalled) return std::nullopt;
    return stalls_.observe(reading.at, *reading.stalled);
  }

 private:
  StallAlarm stalls_;
};

}  // namespace plimsoll::monitor

#pragma once

#include <optional>

#include "base/result.h"
#include "kernel/monitor/alarms.h"
#include "kernel/monitor/reading.h"

namespace plimsoll::monitor {

// Whom a monitor tells, from the loop. Neither call may destroy it.
class MonitorOwner {
 public:
  virtual ~MonitorOwner() = default;
  // The pool must be looked at now; observe() follows soon.
  virtual void wake() = 0;
  // It can't go on; it calls nothing any more.
  virtual void failed(const Error& error) = 0;
};

// Something that notices when memory gets short. None of them decides, none is ever switched off
// while something is done about an alarm: an alarm only makes whoever decides look at once.
class Monitor {
 public:
  virtual ~Monitor() = default;
  // After each look, whoever has asked for it. The alarm that follows from it, if any.
  [[nodiscard]] virtual std::optional<Alarm> observe(const Reading& reading) = 0;
};

}  // namespace plimsoll::monitor

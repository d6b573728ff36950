#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/result.h"
#include "kernel/monitor/alarm.h"
#include "kernel/monitor/reading.h"

namespace plimsoll::monitor {

// What a monitor calls, from the loop. Neither may destroy it.
struct MonitorCallbacks {
  // The pool must be looked at now; observe() follows soon.
  std::function<void()> wake;
  // It can't go on; it calls nothing any more.
  std::function<void(const Error&)> failed;
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

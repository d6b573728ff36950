#pragma once

#include <chrono>
#include <optional>

#include "base/units.h"
#include "kernel/monitor/alarm.h"

namespace plimsoll::monitor {

// The share of time that somebody waits for memory from which it counts as pressure. Ordinary
// readers of files make short stalls; a task in the kernel's throttle stalls for 10 ms at least.
inline constexpr double kStallShare = 0.1;
// It must have lasted so long, and be over half of that share no more before it is told again.
inline constexpr Duration kStallLasts = std::chrono::milliseconds(100);
// Totals closer together than this are left aside: the kernel counts in ticks of up to 10 ms.
inline constexpr Duration kStallSpan = std::chrono::milliseconds(50);

// Follows the total of a pressure file and tells when stalls last. Pure.
class StallAlarm {
 public:
  // `stalled` is the total at `at`; totals never go back while it is the same file.
  [[nodiscard]] std::optional<Alarm> observe(Instant at, Duration stalled);

 private:
  struct Seen {
    Instant at{};
    Duration stalled{};
  };
  std::optional<Seen> last_;
  std::optional<Seen> since_;  // the look before the stalls began
  bool told_ = false;
};

}  // namespace plimsoll::monitor

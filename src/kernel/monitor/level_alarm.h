#pragma once

#include <optional>

#include "kernel/monitor/alarm.h"
#include "kernel/monitor/reading.h"

namespace plimsoll::monitor {

// A bound that was passed is told again only after memory has been this share of the line below it:
// a pool that is full stands at the line.
inline constexpr std::uint64_t kReliefParts = 50;

// Tells when the pool has passed the line, or the machine its reserve. Pure.
class LevelAlarm {
 public:
  [[nodiscard]] std::optional<Alarm> observe(const Reading& reading, double growth);

 private:
  bool pool_told_ = false;
  bool machine_told_ = false;
};

}  // namespace plimsoll::monitor

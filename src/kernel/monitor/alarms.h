#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"
#include "kernel/counters/usage.h"
#include "kernel/monitor/reading.h"

namespace plimsoll::monitor {

// Memory has got where something must be done about it: which monitor says so, what it saw, and the
// numbers, whose names end with their unit.
struct Alarm {
  std::string_view monitor;  // "event", "pressure", "threshold"
  std::string reason;        // a sentence, without its full stop
  std::vector<std::pair<std::string_view, double>> numbers;
};

// How often the pool has met its limits since they were counted last (cgroup-v2, memory.events).
struct MemoryEventsDelta {
  std::uint64_t high = 0;  // was throttled at memory.high
  std::uint64_t max = 0;   // was about to pass memory.max
  std::uint64_t oom = 0;   // could not be helped there
  bool operator==(const MemoryEventsDelta&) const = default;
};

// Nothing if none rose. A count that was absent before, or has gone back, says nothing.
[[nodiscard]] std::optional<MemoryEventsDelta> rise_between(const counters::MemoryEvents& before,
                                                            const counters::MemoryEvents& now);

// What is to be told of it once the pool was looked at. Being throttled is no alarm by itself: what
// the pool is charged with may be page cache that can be dropped. So it is one only near a bound.
[[nodiscard]] std::optional<Alarm> alarm_of(const MemoryEventsDelta& rise, const Reading& reading);

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

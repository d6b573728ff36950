#pragma once

#include <optional>

#include "kernel/counters/usage.h"
#include "kernel/monitor/alarm.h"
#include "kernel/monitor/reading.h"

namespace plimsoll::monitor {

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

}  // namespace plimsoll::monitor

#pragma once

#include <algorithm>
#include <optional>

#include "base/units.h"

// What one look at the pool and the machine has found, and the bounds that it is judged by.
namespace plimsoll::monitor {

// The two constraints that hold at once.
struct Bounds {
  Bytes line;     // the bytes that the pool may use
  Bytes reserve;  // of MemAvailable, left to everybody else
};

struct Reading {
  Instant at{};
  Bounds bounds;
  // Absent is what could not be read.
  std::optional<Bytes> used{};       // of the pool: bytes that can't be dropped
  std::optional<Bytes> charged{};    // of the pool: clean page cache too
  std::optional<Bytes> available{};  // MemAvailable of the machine
  // Total of "some" of the pool's memory pressure, else of the machine's, since whenever.
  std::optional<Duration> stalled{};
};

// Close to a bound is within this share of the line: at 4 GB/s, which one core fills at most, 1 GiB
// has 30 ms left there.
inline constexpr std::uint64_t kNearParts = 8;
[[nodiscard]] constexpr Bytes near_margin(Bytes line) { return {line.count / kNearParts}; }

// What is left until the nearer of the two bounds; absent if neither can be told.
[[nodiscard]] inline std::optional<Bytes> headroom_of(const Reading& reading) {
  std::optional<Bytes> least;
  if (reading.used) least = reading.bounds.line - *reading.used;
  if (reading.available) {
    const Bytes left = *reading.available - reading.bounds.reserve;
    least = least ? std::min(*least, left) : left;
  }
  return least;
}

[[nodiscard]] inline bool is_near(const Reading& reading) {
  const auto headroom = headroom_of(reading);
  return headroom && *headroom <= near_margin(reading.bounds.line);
}

}  // namespace plimsoll::monitor

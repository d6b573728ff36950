#pragma once

#include <cstdint>
#include <limits>

#include "base/units.h"

namespace plimsoll::counters {

// `count` kernel units of `unit` each as a Duration; the longest Duration where that is too much
// (292 years: only damaged text says so).
constexpr Duration scaled(std::uint64_t count, Duration unit) {
  const auto unit_ns = static_cast<std::uint64_t>(unit.count());
  const auto max_ns = static_cast<std::uint64_t>(Duration::max().count());
  if (count > max_ns / unit_ns) return Duration::max();
  return Duration(static_cast<Duration::rep>(count * unit_ns));
}

constexpr Duration from_us(std::uint64_t count) {
  return scaled(count, std::chrono::microseconds(1));
}
constexpr Duration from_ns(std::uint64_t count) { return scaled(count, Duration(1)); }

}  // namespace plimsoll::counters

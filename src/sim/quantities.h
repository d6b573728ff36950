#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/units.h"

// Between the units of the outside and the numbers that are reckoned with inside: seconds and MiB
// as fractions, jobs as places in a list.
namespace plimsoll::sim {

// Rounded up, so that what is awaited has happened by then. Not beyond what a Duration holds.
inline Duration to_duration(double seconds) {
  constexpr double kNanoseconds = 1e9;
  constexpr double kNanosecondsMax = 9e18;
  return Duration(
      static_cast<std::int64_t>(std::min(std::ceil(seconds * kNanoseconds), kNanosecondsMax)));
}

inline double to_mib(Bytes bytes) { return to_double(bytes) / (1 << 20); }

inline Bytes from_mib(double mib) { return to_bytes(mib * (1 << 20)); }

inline std::size_t index_of(JobId job) { return static_cast<std::size_t>(job) - 1; }
inline JobId id_of(std::size_t index) { return JobId{index + 1}; }

}  // namespace plimsoll::sim

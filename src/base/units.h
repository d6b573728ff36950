#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace plimsoll {

// A quantity of memory or data. Never converts to or from a bare integer by itself.
struct Bytes {
  std::uint64_t count = 0;

  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes& operator+=(Bytes other) {
    count += other.count;
    return *this;
  }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return a += b; }
  // Saturates: what is left is nothing, never a wrapped huge number.
  friend constexpr Bytes operator-(Bytes a, Bytes b) {
    return {a.count > b.count ? a.count - b.count : 0};
  }
};

namespace literals {
constexpr Bytes operator""_KiB(unsigned long long n) { return {n << 10}; }
constexpr Bytes operator""_MiB(unsigned long long n) { return {n << 20}; }
constexpr Bytes operator""_GiB(unsigned long long n) { return {n << 30}; }
}  // namespace literals

// Time on the monotonic clock. `now` is a parameter wherever something is decided; the clock itself
// is read in few places.
using Duration = std::chrono::nanoseconds;
using Instant = std::chrono::time_point<std::chrono::steady_clock, Duration>;

// Time on the wall clock, for records and people only: it steps.
using WallTime = std::chrono::time_point<std::chrono::system_clock, Duration>;

// Names a job within one run, in the order of input from 1.
enum class JobId : std::uint64_t {};

}  // namespace plimsoll

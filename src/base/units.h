#pragma once

#include <chrono>
#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>

namespace plimsoll {

// A quantity of memory or data. Never converts to or from a bare integer by itself.
struct Bytes {
  std::uint64_t count = 0;

  constexpr auto operator<=>(const Bytes&) const = default;
  // Both saturate: too much is the most there can be, and what is left is nothing, never a number
  // that has wrapped.
  constexpr Bytes& operator+=(Bytes other) {
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - count;
    count += other.count < room ? other.count : room;
    return *this;
  }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return a += b; }
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

// For reckoning, where fractions are in order.
constexpr double to_double(Bytes bytes) { return static_cast<double>(bytes.count); }
// The nearest whole number: none for what is below zero or no number, the most there can be for
// what is beyond.
inline Bytes to_bytes(double bytes) {
  constexpr double kTooMany = 18446744073709551616.0;  // 2^64
  if (!(bytes > 0)) return {};
  if (bytes >= kTooMany) return {std::numeric_limits<std::uint64_t>::max()};
  return {static_cast<std::uint64_t>(std::round(bytes))};
}
constexpr double to_seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// Names a job within one run, in the order of input from 1.
enum class JobId : std::uint64_t {};

}  // namespace plimsoll

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"
#include "policy/estimator/signature.h"

// What one attempt has shown, as plain values: what the estimator learns from, and what a store of
// the past keeps.
namespace plimsoll::policy {

// Bytes in use after so much running time; frozen time does not count.
struct CurvePoint {
  Duration at{};
  Bytes used{};
  bool operator==(const CurvePoint&) const = default;
};

// Enough for a start, a few steps and a short peak, at 512 bytes an attempt.
inline constexpr std::size_t kCurvePointsMax = 32;

// A course with at most `points_max` (at least 3) of its points, in order of time: the first, the
// last, the highest, and those without which straight lines between the others would leave out
// most, on a scale that is half of time and half of its logarithm. O(n log n).
[[nodiscard]] std::vector<CurvePoint> thin(std::vector<CurvePoint> course,
                                           std::size_t points_max = kCurvePointsMax);

// Whether a figure is the whole truth or only what had been reached when the attempt was ended.
enum class Seen : std::uint8_t { whole, at_least };

struct AttemptSummary {
  Key key;
  Bytes peak{};                  // of the bytes that can't be dropped
  Seen peak_seen = Seen::whole;  // at_least: evicted, over a limit, or killed for any other reason
  Duration ran{};                // running time; frozen time does not count
  Seen ran_seen = Seen::whole;
  std::optional<double> cores{};       // mean use
  std::optional<Bytes> input{};        // what it had to read, if that was known beforehand
  std::vector<double> numbers{};       // of its arguments, as numbers_of() has them
  std::optional<Bytes> memory_hint{};  // what the user had said of it
  std::optional<Bytes> written{};      // to file systems; at least that where `peak_seen` says so
  std::optional<Bytes> io{};           // read from devices and written to them, as far as was seen
  std::optional<Duration> io_wait{};   // time in which a task of it waited for I/O
  // At most kCurvePointsMax, in order; the last may be of when nobody lived any more. Empty: not
  // known.
  std::vector<CurvePoint> curve{};
};

}  // namespace plimsoll::policy

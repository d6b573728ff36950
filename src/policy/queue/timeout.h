#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <queue>
#include <variant>
#include <vector>

#include "base/units.h"

// How long an attempt may take: a time, or a share of what jobs of this run usually take.
namespace plimsoll::policy {

// Of the median wall time of the jobs of this run that have succeeded so far.
struct MedianPercent {
  double percent = 0;
};

// No time-out, a fixed one, or one that follows the data.
using TimeoutPolicy = std::variant<std::monostate, Duration, MedianPercent>;

// So many jobs must have succeeded before a median means anything; as GNU parallel has it.
inline constexpr std::size_t kMedianResultsMin = 3;

// The median of all values given so far, exact, in O(log n) per value.
class RunningMedian {
 public:
  void add(Duration value);
  [[nodiscard]] std::size_t count() const { return lower_.size() + upper_.size(); }
  // The mean of the two middle ones if there is an even number; nothing without values.
  [[nodiscard]] std::optional<Duration> value() const;

 private:
  // Invariant: no value of lower_ is above one of upper_, and lower_ has as many values or one
  // more.
  std::priority_queue<Duration> lower_;
  std::priority_queue<Duration, std::vector<Duration>, std::greater<>> upper_;
};

// The time-out that `policy` gives now. Nothing: none, or not enough results yet.
[[nodiscard]] std::optional<Duration> timeout_by(const TimeoutPolicy& policy,
                                                 const RunningMedian& succeeded);

}  // namespace plimsoll::policy

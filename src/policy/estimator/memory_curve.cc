#include "policy/estimator/memory_curve.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace plimsoll::policy {
namespace {

// Of an attempt whose course is not known: the share of its time by which it has its peak, and the
// share of the peak that it starts with. Guesses that err on the side of early.
constexpr double kRiseTime = 0.1;
constexpr double kRiseStart = 0.3;

float seconds(Duration time) { return std::chrono::duration<float>(time).count(); }
float number(Bytes bytes) { return static_cast<float>(bytes.count); }

}  // namespace

MemoryCurve::MemoryCurve(const AttemptSummary& attempt_summary) {
  seconds_.fill(std::numeric_limits<float>::infinity());
  const float peak = number(attempt_summary.peak);
  if (attempt_summary.curve.empty()) {
    add(0, static_cast<float>(kRiseStart) * peak);
    add(static_cast<float>(kRiseTime) * seconds(attempt_summary.ran), peak);
  } else {
    for (const CurvePoint& point : thin(attempt_summary.curve)) {
      add(seconds(point.at), number(point.used));
    }
  }
  // A peak between two samples is known to the kernel alone; it belongs where most was seen.
  const auto end = used_.begin() + static_cast<std::ptrdiff_t>(size_);
  float& highest = *std::max_element(used_.begin(), end);
  highest = std::max(highest, peak);
  float most = 0;
  for (std::size_t i = 0; i < size_; ++i) most_until_[i] = most = std::max(most, used_[i]);
  most = 0;
  for (std::size_t i = size_; i-- > 0;) most_from_[i] = most = std::max(most, used_[i]);
}

void MemoryCurve::add(float seconds, float used) {
  seconds_[size_] = seconds;
  used_[size_] = used;
  ++size_;
}

}  // namespace plimsoll::policy

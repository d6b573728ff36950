#include "policy/queue/timeout.h"

#include <cmath>

namespace plimsoll::policy {
namespace {

// Beyond this a product is no useful time-out and would not fit a Duration.
constexpr Duration kTimeoutMax = std::chrono::hours(24 * 365 * 100);

Duration scaled(Duration median, double percent) {
  constexpr double kWhole = 100;
  const double scaled_ns = static_cast<double>(median.count()) * (percent / kWhole);
  if (scaled_ns >= static_cast<double>(kTimeoutMax.count())) return kTimeoutMax;
  return Duration(std::llround(scaled_ns));
}

}  // namespace

void RunningMedian::add(Duration value) {
  if (lower_.empty() || value <= lower_.top()) {
    lower_.push(value);
  } else {
    upper_.push(value);
  }
  if (lower_.size() > upper_.size() + 1) {
    upper_.push(lower_.top());
    lower_.pop();
  } else if (lower_.size() < upper_.size()) {
    lower_.push(upper_.top());
    upper_.pop();
  }
}

std::optional<Duration> RunningMedian::value() const {
  if (lower_.empty()) return std::nullopt;
  if (lower_.size() > upper_.size()) return lower_.top();
  return lower_.top() + (upper_.top() - lower_.top()) / 2;
}

std::optional<Duration> timeout_by(const TimeoutPolicy& policy, const RunningMedian& succeeded) {
  if (const auto* fixed = std::get_if<Duration>(&policy)) return *fixed;
  const auto* share = std::get_if<MedianPercent>(&policy);
  if (!share || succeeded.count() < kMedianResultsMin) return std::nullopt;
  return scaled(*succeeded.value(), share->percent);
}

}  // namespace plimsoll::policy

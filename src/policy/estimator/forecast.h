#pragma once

#include "policy/estimator/estimate.h"
#include "policy/estimator/live_profile.h"
#include "policy/estimator/past_attempt.h"
#include "policy/estimator/trend.h"

// What earlier attempts tell of the next one, and of one that runs.
namespace plimsoll::policy {

// What its sizes tell of the attempt at hand: where the past shows that one matters, each past
// attempt counts for what it would have used with this one.
struct BySize {
  Sizes sizes;
  const Trend* peak = nullptr;     // null: no size explains the peak
  const Trend* seconds = nullptr;  // null: none explains the running time
};

// Of an attempt that has not started. Sets all of the estimate but its basis, and `cores` only
// where the record knows of any. `record` is not empty.
[[nodiscard]] Estimate forecast(const PastAttempt& record, const BySize& size);

// Of a running one: those past attempts count that had gone like it so far.
struct Forecast {
  Estimate estimate;      // only if `likelihood` is above 0
  double likelihood = 0;  // 0..1: how well the record explains the track
};
[[nodiscard]] Forecast forecast(const PastAttempt& record, const BySize& size,
                                const LiveProfile& live_profile);

}  // namespace plimsoll::policy

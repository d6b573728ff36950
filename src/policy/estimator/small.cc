#include "policy/estimator/small.h"

namespace plimsoll::policy {

bool is_small(const Estimate& estimate) {
  if (estimate.basis != Basis::exact || estimate.attempts_known < kSmallKnownMin) return false;
  const double peak = estimate.peak.mean + estimate.peak.spread;
  const double seconds = estimate.remaining.mean + estimate.remaining.spread;
  return peak <= to_double(kSmallPeak) && seconds <= to_seconds(kSmallRun);
}

}  // namespace plimsoll::policy

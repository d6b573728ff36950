#include "policy/estimator/calibration.h"

#include <algorithm>

namespace plimsoll::policy {

void Calibration::add(const Belief& estimated, Bytes peak, Duration ran) {
  // Two spreads are where one of fifty would lie if errors were normal.
  constexpr double kFar = 2;
  const auto used = to_double(peak);
  const double seconds = to_seconds(ran);
  ++attempts_;
  if (used > estimated.mean) ++above_mean_;
  if (used > estimated.mean + kFar * estimated.spread) ++far_above_;
  reserved_ += estimated.mean * seconds;
  wasted_ += std::max(0.0, estimated.mean - used) * seconds;
}

}  // namespace plimsoll::policy

#include "policy/governor/member.h"

#include <algorithm>
#include <limits>

#include "policy/estimator/demand_forecast.h"

namespace plimsoll::policy {
namespace {

// What is believed, and so many standard deviations, bound what a job grows by. One job in six gets
// further: of these nothing tells where they end, but few come so many deviations further still,
// and who has come so far in all has proved the belief wrong.
constexpr double kBoundDoubt = 1;
constexpr double kBeyondBound = 3;
constexpr double kProvesWrong = 4;

// Of its peak. Whether it has that before it still or behind it may be in doubt, how high it is
// not.
double spread_below_ceiling(const Estimate& estimate) {
  const Belief& peak = estimate.peak;
  if (!estimate.ceiling) return peak.spread;
  const double above = estimate.ceiling->mean + estimate.ceiling->spread - peak.mean;
  return std::clamp(above, 0.0, peak.spread);
}

}  // namespace

double Member::need() const { return std::max(0.0, estimate.peak.mean - used()); }

bool Member::is_unsettled() const { return !settled && !is_known(estimate); }

Rise Member::rise_within(Duration ahead) const {
  const double most = slope * to_seconds(ahead);
  // What is only said ends at what it was admitted with.
  if (sample.claimed)
    return {.most = std::min(most, std::max(0.0, admitted_with - used())), .doubt = 0};
  if (!is_known(estimate)) return {.most = std::min(most, left_of_told()), .doubt = 0};
  const double spread = spread_below_ceiling(estimate);
  const double doubt = kBoundDoubt * spread;
  const double bound = estimate.peak.mean + doubt - used();
  if (used() >= estimate.peak.mean + kProvesWrong * spread) return {.most = most, .doubt = 0};
  if (bound <= 0) {
    const double beyond = std::min(most, kBeyondBound * spread);
    return {.most = beyond, .doubt = beyond};
  }
  const double within = std::min(most, bound);
  return {.most = within, .doubt = std::max(0.0, within - std::max(0.0, bound - doubt))};
}

double Member::left_of_told() const {
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  if (!estimate.told_most || *estimate.told_most < used()) return kUnbounded;
  return *estimate.told_most - used();
}

double Member::lost_work() const {
  // A job that waits for the network loses time, if no CPU; a tenth of a core stands for that.
  constexpr double kCoresOfWaiting = 0.1;
  constexpr double kLeast = 0.001;
  return std::max({to_seconds(sample.cpu), to_seconds(sample.ran) * kCoresOfWaiting, kLeast});
}

}  // namespace plimsoll::policy

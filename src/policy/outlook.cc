#include "policy/outlook.h"

#include <algorithm>
#include <cmath>

namespace plimsoll::policy {
namespace {

double square(double x) { return x * x; }

double between(double a, double b, double share) { return a + (b - a) * share; }

// What the estimate says of the moment `at` after it was made.
struct Reading {
  double mean = 0, variance = 0, survival = 0;
};

Reading read(const Estimate& estimate, Duration at) {
  const auto above = std::upper_bound(kHorizons.begin(), kHorizons.end(), at);
  const auto high = static_cast<std::size_t>(above - kHorizons.begin());
  const std::size_t low = high - 1;  // the first horizon is 0
  if (high == kHorizonCount) {
    return {estimate.ahead[low].mean, square(estimate.ahead[low].spread), estimate.survival[low]};
  }
  const double share =
      to_seconds(at - kHorizons[low]) / to_seconds(kHorizons[high] - kHorizons[low]);
  return {between(estimate.ahead[low].mean, estimate.ahead[high].mean, share),
          between(square(estimate.ahead[low].spread), square(estimate.ahead[high].spread), share),
          between(estimate.survival[low], estimate.survival[high], share)};
}

}  // namespace

Demand demand_of(const Estimate& estimate, Duration age, Duration later) {
  Demand demand;
  if (age < kAlignFrom) age = {};
  const double alive = std::max(read(estimate, age).survival, 1e-3);
  for (std::size_t i = 0; i < kHorizonCount; ++i) {
    if (kHorizons[i] < later) continue;  // it is not there yet
    const Reading reading = age == Duration{} && later == Duration{}
                                ? Reading{.mean = estimate.ahead[i].mean,
                                          .variance = square(estimate.ahead[i].spread),
                                          .survival = estimate.survival[i]}
                                : read(estimate, kHorizons[i] - later + age);
    const double survival = std::min(1.0, reading.survival / alive);
    demand.mean[i] = survival * reading.mean;
    // Of something that is there with probability s: s v + s (1 - s) m^2.
    demand.spread[i] =
        std::sqrt(survival * reading.variance + survival * (1 - survival) * square(reading.mean));
  }
  return demand;
}

void Outlook::add(const Demand& demand, bool known) {
  for (std::size_t i = 0; i < kHorizonCount; ++i) {
    sums_[i].mean += demand.mean[i];
    if (known) {
      sums_[i].variance += square(demand.spread[i]);
    } else {
      sums_[i].doubt += demand.spread[i];
    }
  }
}

void Outlook::add_constant(double bytes) {
  for (Sum& sum : sums_) sum.mean += bytes;
}

double Outlook::level(std::size_t horizon, double z) const {
  const Sum& sum = sums_[horizon];
  return sum.mean + z * std::sqrt(sum.variance + square(sum.doubt));
}

double Outlook::level_with(std::size_t horizon, double z, const Demand& demand, bool known) const {
  const Sum& sum = sums_[horizon];
  const double doubt = sum.doubt + (known ? 0 : demand.spread[horizon]);
  const double variance = sum.variance + (known ? square(demand.spread[horizon]) : 0);
  return sum.mean + demand.mean[horizon] + z * std::sqrt(variance + square(doubt));
}

}  // namespace plimsoll::policy

#include "policy/estimator/demand_forecast.h"

#include <algorithm>
#include <cmath>

namespace plimsoll::policy {
namespace {

double square(double x) { return x * x; }

double between(double a, double b, double share) { return a + (b - a) * share; }

// What the estimate says of the moment `at` after it was made.
struct Reading {
  double mean = 0, variance = 0, swing = 0, survival = 0;
};

Reading read(const Estimate& estimate, Duration at) {
  const auto above = std::upper_bound(kHorizons.begin(), kHorizons.end(), at);
  const auto high = static_cast<std::size_t>(above - kHorizons.begin());
  const std::size_t low = high - 1;  // the first horizon is 0
  if (high == kHorizonCount) {
    return {estimate.ahead[low].mean, square(estimate.ahead[low].spread), estimate.swing[low],
            estimate.survival[low]};
  }
  const double share =
      to_seconds(at - kHorizons[low]) / to_seconds(kHorizons[high] - kHorizons[low]);
  return {between(estimate.ahead[low].mean, estimate.ahead[high].mean, share),
          between(square(estimate.ahead[low].spread), square(estimate.ahead[high].spread), share),
          between(estimate.swing[low], estimate.swing[high], share),
          between(estimate.survival[low], estimate.survival[high], share)};
}

}  // namespace

Demand demand_of(const Estimate& estimate, Duration age, Duration later) {
  Demand demand;
  const double alive = std::max(read(estimate, age).survival, 1e-3);
  for (std::size_t i = 0; i < kHorizonCount; ++i) {
    if (kHorizons[i] < later) continue;  // it is not there yet
    const Reading reading = age == Duration{} && later == Duration{}
                                ? Reading{.mean = estimate.ahead[i].mean,
                                          .variance = square(estimate.ahead[i].spread),
                                          .swing = estimate.swing[i],
                                          .survival = estimate.survival[i]}
                                : read(estimate, kHorizons[i] - later + age);
    const double survival = std::min(1.0, reading.survival / alive);
    demand.mean[i] = survival * reading.mean;
    demand.swing[i] = survival * reading.swing;
    // Of something that is there with probability s: s v + s (1 - s) m^2.
    demand.spread[i] =
        std::sqrt(survival * reading.variance + survival * (1 - survival) * square(reading.mean));
    demand.most[i] = {demand.mean[i] + demand.swing[i], demand.spread[i]};
    if (!estimate.ceiling || survival <= 0) continue;
    demand.most[i] = {std::max(estimate.ceiling->mean, reading.mean), estimate.ceiling->spread};
  }
  return demand;
}

void DemandForecast::Sum::add(const Demand& demand, std::size_t horizon, bool known) {
  mean += demand.mean[horizon];
  swing += demand.swing[horizon];
  swing_square += square(demand.swing[horizon]);
  most += demand.most[horizon].mean;
  if (known) {
    variance += square(demand.spread[horizon]);
    most_variance += square(demand.most[horizon].spread);
  } else {
    doubt += demand.spread[horizon];
    most_doubt += demand.most[horizon].spread;
  }
}

double DemandForecast::Sum::level(double z) const {
  const double then = mean + z * std::sqrt(variance + square(doubt)) +
                      std::min(swing, kSwings * std::sqrt(swing_square));
  return std::min(then, most + z * std::sqrt(most_variance + square(most_doubt)));
}

void DemandForecast::add(const Demand& demand, bool known) {
  for (std::size_t i = 0; i < kHorizonCount; ++i) sums_[i].add(demand, i, known);
}

void DemandForecast::add_constant(double bytes) {
  for (Sum& sum : sums_) {
    sum.mean += bytes;
    sum.most += bytes;
  }
}

double DemandForecast::level(std::size_t horizon, double z) const {
  return sums_[horizon].level(z * factors_[horizon]);
}

Belief DemandForecast::sum(std::size_t horizon) const {
  const Sum& sum = sums_[horizon];
  return {sum.level(0), sum.level(1) - sum.level(0)};
}

double DemandForecast::level_with(std::size_t horizon, double z, const Demand& demand,
                                  bool known) const {
  Sum sum = sums_[horizon];
  sum.add(demand, horizon, known);
  return sum.level(z * factors_[horizon]);
}

}  // namespace plimsoll::policy

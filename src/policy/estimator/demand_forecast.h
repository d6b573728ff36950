#pragma once

#include <array>
#include <cstddef>

#include "base/units.h"
#include "policy/estimator/estimate.h"

// What a set of jobs is believed to use together, now and later.
namespace plimsoll::policy {

inline constexpr std::size_t kHorizonCount = kHorizons.size();

// What one job adds to each horizon: bytes, with the chance that it is over by then.
struct Demand {
  std::array<double, kHorizonCount> mean{};
  std::array<double, kHorizonCount> spread{};
  std::array<double, kHorizonCount> swing{};
  // What it adds at most, whenever that is; the same as above where there is no ceiling.
  std::array<Belief, kHorizonCount> most{};
};

// Of a job whose estimate was made `age` ago and that starts, or goes on, only `later` from now:
// horizons that lie between two of the estimate's are read off the line between them.
[[nodiscard]] Demand demand_of(const Estimate& estimate, Duration age = {}, Duration later = {});

// So many standard deviations above their mean the swings of many jobs come together at some time;
// those of a few, all of them.
inline constexpr double kSwings = 2.5;

// Sums over jobs: means add; spreads are pooled, variances adding, where jobs err independently of
// each other, and add up as they are where all rest on the same ignorance. A sum is never more than
// that of what each needs at most: doubt about when does not add up to more than there is.
class DemandForecast {
 public:
  // `known`: the estimate rests on earlier attempts, so that its error is the job's own.
  void add(const Demand& demand, bool known);
  void add_constant(double bytes);
  // All spreads count so many times as much, at each horizon.
  void widen(const std::array<double, kHorizonCount>& factors) { factors_ = factors; }

  // The bytes that are not passed at this horizon with the certainty of `z` standard deviations.
  [[nodiscard]] double level(std::size_t horizon, double z) const;
  // Its mean and one standard deviation, not widened.
  [[nodiscard]] Belief sum(std::size_t horizon) const;
  // The same with one more job.
  [[nodiscard]] double level_with(std::size_t horizon, double z, const Demand& demand,
                                  bool known) const;

 private:
  struct Sum {
    double mean = 0, variance = 0, doubt = 0;
    double swing = 0, swing_square = 0;
    double most = 0, most_variance = 0, most_doubt = 0;
    void add(const Demand& demand, std::size_t horizon, bool known);
    [[nodiscard]] double level(double z) const;
  };
  std::array<Sum, kHorizonCount> sums_{};
  std::array<double, kHorizonCount> factors_ = [] {
    std::array<double, kHorizonCount> ones{};
    ones.fill(1);
    return ones;
  }();
};

// An estimate that rests on so many attempts of the class itself speaks of the job; below, or where
// only its tool is known, several of the class may all be as wrong.
inline constexpr std::uint32_t kKnownFrom = 3;
[[nodiscard]] inline bool is_known(const Estimate& estimate) {
  return estimate.attempts_known >= kKnownFrom && estimate.basis == Basis::exact;
}

}  // namespace plimsoll::policy

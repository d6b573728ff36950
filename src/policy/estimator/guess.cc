#include "policy/estimator/guess.h"

#include <algorithm>
#include <cmath>

#include "policy/estimator/showing.h"

namespace plimsoll::policy {
namespace {

// A job that has not grown for so long has probably what it wanted: half of what the prior expects
// beyond that is given up after 5 s, nearly all after 10.
constexpr double kCalmSeconds = 6;
// The doubt is given up far more slowly than the mean: what comes late is what hurts.
constexpr double kDoubtCalmSeconds = 60;
// The share of the prior's spread that stays however calm the job is.
constexpr double kDoubtLeftOfGuess = 0.2;
// A rise goes on for so many times as long as it has: once again while the prior is not exceeded,
// three times once it is by kExceeded, when all that is known of the job is that it grows.
constexpr double kGrowsAgain = 1;
constexpr double kGrowsOn = 3;
// What creeps is expected to do so for this long at least.
constexpr double kCreepSeconds = 30;
constexpr double kExceeded = 0.5;
// How far growth is off, as a share of what it adds.
constexpr double kGrowthDoubt = 0.5;
// What a job uses wobbles by about this share of itself.
constexpr double kWobble = 0.05;
// How soon a job without a past is expected to have what it will have.
constexpr double kRiseSeconds = 15;

Belief peak_of(const Prior& prior, const LiveProfile& live_profile) {
  const double peak = to_double(live_profile.peak());
  const double calm = to_seconds(live_profile.calm()) / kCalmSeconds;
  const double trust = std::exp(-calm * calm);
  const double from_prior = trust * std::max(0.0, prior.peak.mean - peak);
  const double beyond = prior.peak.mean > 0 ? peak / prior.peak.mean - 1 : kExceeded;
  const double goes_on =
      kGrowsAgain + (kGrowsOn - kGrowsAgain) * std::clamp(beyond / kExceeded, 0.0, 1.0);
  const double rising = std::max(to_seconds(live_profile.rising()),
                                 std::min(to_seconds(live_profile.ran()), kCreepSeconds));
  const double from_growth = std::max(0.0, live_profile.growth()) * rising * goes_on;
  const double doubt =
      kDoubtLeftOfGuess +
      (1 - kDoubtLeftOfGuess) * std::exp(-to_seconds(live_profile.calm()) / kDoubtCalmSeconds);
  return {peak + std::max(from_prior, from_growth),
          std::hypot(doubt * prior.peak.spread, kGrowthDoubt * from_growth, kWobble * peak)};
}

// Fills in the course from `used` now, growing by `growth` bytes per second, to `estimate.peak`.
void fill_course(Estimate& estimate, double used, double growth) {
  const double rise = std::max(0.0, estimate.peak.mean - used);
  const double slope = std::max(growth, rise / kRiseSeconds);
  for (std::size_t i = 0; i < kHorizons.size(); ++i) {
    const double ahead = to_seconds(kHorizons[i]);
    const double share = rise > 0 ? std::min(1.0, slope * ahead / rise) : 0;
    const double doubt = 1 - std::exp(-ahead / kRiseSeconds);
    estimate.ahead[i] = {used + share * rise,
                         std::hypot(doubt * estimate.peak.spread, kWobble * used)};
    // Of jobs nobody knows, half of those that ran for some time run for as long again.
    estimate.survival[i] = estimate.remaining.mean / (estimate.remaining.mean + ahead);
  }
}

}  // namespace

Estimate guess(const Prior& prior) {
  Estimate estimate{};
  estimate.peak = prior.peak;
  estimate.cores = prior.cores;
  estimate.remaining = prior.seconds;
  fill_course(estimate, 0, 0);
  return estimate;
}

Estimate guess(const Prior& prior, const LiveProfile& live_profile) {
  if (!live_profile.has_samples()) return guess(prior);
  Estimate estimate{};
  const double ran = to_seconds(live_profile.ran());
  estimate.peak = peak_of(prior, live_profile);
  const double seen = load_shown(live_profile.ran());
  estimate.cores = {seen * live_profile.cores_wanted_lately() + (1 - seen) * prior.cores.mean,
                    std::max(1 - seen, kWobble) * prior.cores.spread + kWobble};
  const double left = std::max(ran, prior.seconds.mean - ran);
  estimate.remaining = {left, std::max(left, prior.seconds.spread)};
  fill_course(estimate, to_double(live_profile.used()), std::max(0.0, live_profile.growth()));
  return estimate;
}

}  // namespace plimsoll::policy

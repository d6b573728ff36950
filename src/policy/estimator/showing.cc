#include "policy/estimator/showing.h"

#include <algorithm>
#include <cmath>

namespace plimsoll::policy {
namespace {

// One whose peak has not risen for so long will most likely not rise much: programs allocate in
// their first seconds, or go on growing. A guess.
constexpr double kShownCalmSeconds = 2;
// Nor does one tell where it ends that grows as fast as to have as much again in so long.
constexpr double kAgainSeconds = 10;
// The load of so long is worth as much as what was believed before. Being wrong about cores costs a
// short queue.
constexpr double kLoadSeconds = 0.3;

// Less than this share of a peak, or of a weight or a core, is no news.
constexpr double kNews = 0.05;

double squared(double x) { return x * x; }

bool differ(double a, double b, double scale) { return std::abs(a - b) > kNews * scale; }

bool is_nothing(const Showing& showing) { return showing.weight <= 0 && showing.cores_weight <= 0; }

}  // namespace

double load_shown(Duration ran) {
  const double seconds = to_seconds(ran);
  return seconds / (seconds + kLoadSeconds);
}

Showing showing_of(const LiveProfile& live_profile) {
  if (!live_profile.has_samples()) return {};
  const double calm = to_seconds(live_profile.calm()) / kShownCalmSeconds;
  const double peak = to_double(live_profile.peak());
  const double again = peak > 0 ? live_profile.growth() * kAgainSeconds / peak : 0;
  return {.weight = (1 - std::exp(-calm * calm)) * std::clamp(1 - again, 0.0, 1.0),
          .peak = peak,
          .cores_weight = load_shown(live_profile.ran()),
          .cores = live_profile.cores_wanted_lately()};
}

bool is_news(const Showing& before, const Showing& now) {
  if (is_nothing(before) || is_nothing(now)) return is_nothing(before) != is_nothing(now);
  return differ(before.weight, now.weight, 1) ||
         differ(before.peak, now.peak, std::max(before.peak, now.peak)) ||
         differ(before.cores_weight, now.cores_weight, 1) || differ(before.cores, now.cores, 1);
}

void Shows::replace(const Showing& before, const Showing& now) {
  if (!is_nothing(before)) --attempts_;
  if (!is_nothing(now)) ++attempts_;
  if (attempts_ == 0) {
    *this = {};  // sheds what rounding has left
    return;
  }
  weight_ += now.weight - before.weight;
  peak_ += now.weight * now.peak - before.weight * before.peak;
  peak_square_ += now.weight * squared(now.peak) - before.weight * squared(before.peak);
  cores_weight_ += now.cores_weight - before.cores_weight;
  cores_ += now.cores_weight * now.cores - before.cores_weight * before.cores;
}

Prior Shows::correct(const Prior& prior) const {
  const double weight = std::max(weight_, 0.0);
  const double cores_weight = std::max(cores_weight_, 0.0);
  const double mean = weight > 0 ? peak_ / weight : 0;
  const double variance =
      weight > 0 ? std::max(0.0, peak_square_ / weight - squared(mean)) : 0;  // from job to job
  return {.peak = {(prior.peak.mean + weight * mean) / (1 + weight),
                   std::hypot(prior.peak.spread / (1 + weight), std::sqrt(variance))},
          .cores = {(prior.cores.mean + cores_) / (1 + cores_weight),
                    prior.cores.spread / (1 + cores_weight)},
          .seconds = prior.seconds};
}

}  // namespace plimsoll::policy

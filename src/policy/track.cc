#include "policy/track.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace plimsoll::policy {
namespace {

// Growth and load are smoothed over about so many seconds: longer than the pauses of a job that
// grows in steps, short enough that one that has stopped growing is seen to have.
constexpr double kSmoothingSeconds = 5;
// Over which its jumps are averaged: a minute shows whether it is calm by nature.
constexpr double kTrackWobbleSeconds = 60;
// A rise of the peak by less than this, and by less than kRiseMin, is noise.
constexpr double kRiseShare = 0.05;
constexpr Bytes kRiseMin{1ULL << 20};

// So is one that takes longer for it: what creeps is as good as calm.
constexpr Duration kCreep = std::chrono::seconds(10);
// A rise after a longer calm is a new one.
constexpr Duration kTrackCalm = std::chrono::seconds(30);

}  // namespace

void Track::observe(const JobSample& sample) {
  peak_ = std::max({peak_, sample.peak, sample.used});
  const bool later = samples_ == 0 || sample.ran > last_.ran;
  if (!later) return;
  if (to_double(peak_) > to_double(marked_) * (1 + kRiseShare) && peak_ - marked_ >= kRiseMin) {
    if (sample.ran - grown_at_ > kTrackCalm) rising_since_ = last_.ran;
    marked_ = peak_;
    marked_at_ = grown_at_ = sample.ran;
  } else if (sample.ran - marked_at_ >= kCreep) {
    marked_ = peak_;
    marked_at_ = sample.ran;
  }
  if (samples_ > 0) {
    const double passed = to_seconds(sample.ran - last_.ran);
    const double fresh = 1 - std::exp(-passed / kSmoothingSeconds);
    const double slope = (to_double(sample.used) - to_double(last_.used)) / passed;
    const double load = std::max(0.0, to_seconds(sample.cpu - last_.cpu)) / passed;
    const double jump = (slope - growth_) * passed;
    jumps_ += (1 - std::exp(-passed / kTrackWobbleSeconds)) * (jump * jump - jumps_);
    growth_ += fresh * (slope - growth_);
    cores_ = samples_ == 1 ? load : cores_ + fresh * (load - cores_);
  }
  last_ = sample;
  ++samples_;
}

// Of two samples that wobble alike about the same level the difference has twice the variance.
double Track::wobble() const { return std::sqrt(jumps_ / 2); }

Duration Track::rising() const {
  return calm() > kTrackCalm ? Duration{} : last_.ran - rising_since_;
}

double Track::cores() const {
  return last_.ran > Duration{} ? to_seconds(last_.cpu) / to_seconds(last_.ran) : 0;
}

}  // namespace plimsoll::policy

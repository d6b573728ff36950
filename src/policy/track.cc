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
constexpr double kWobbleSeconds = 60;
// A rise of the peak by less than this, and by less than kRiseMin, is noise.
constexpr double kRiseShare = 0.05;
constexpr Bytes kRiseMin{1ULL << 20};

// So is one that takes longer for it: what creeps is as good as calm.
constexpr Duration kCreep = std::chrono::seconds(10);
// A rise after a longer calm is a new one.
constexpr Duration kCalm = std::chrono::seconds(30);

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }
double number(Bytes bytes) { return static_cast<double>(bytes.count); }

}  // namespace

void Track::observe(const JobSample& sample) {
  peak_ = std::max({peak_, sample.peak, sample.used});
  const bool later = samples_ == 0 || sample.ran > last_.ran;
  if (!later) return;
  if (number(peak_) > number(marked_) * (1 + kRiseShare) && peak_ - marked_ >= kRiseMin) {
    if (sample.ran - grown_at_ > kCalm) rising_since_ = last_.ran;
    marked_ = peak_;
    marked_at_ = grown_at_ = sample.ran;
  } else if (sample.ran - marked_at_ >= kCreep) {
    marked_ = peak_;
    marked_at_ = sample.ran;
  }
  if (samples_ > 0) {
    const double passed = seconds(sample.ran - last_.ran);
    const double fresh = 1 - std::exp(-passed / kSmoothingSeconds);
    const double slope = (number(sample.used) - number(last_.used)) / passed;
    const double load = std::max(0.0, seconds(sample.cpu - last_.cpu)) / passed;
    const double jump = (slope - growth_) * passed;
    jumps_ += (1 - std::exp(-passed / kWobbleSeconds)) * (jump * jump - jumps_);
    growth_ += fresh * (slope - growth_);
    cores_ = samples_ == 1 ? load : cores_ + fresh * (load - cores_);
  }
  while (passed_count_ < kHorizons.size() && sample.ran >= kHorizons[passed_count_]) {
    passed_[passed_count_++] = static_cast<float>(sample.used.count);
  }
  last_ = sample;
  ++samples_;
}

// Of two samples that wobble alike about the same level the difference has twice the variance.
double Track::wobble() const { return std::sqrt(jumps_ / 2); }

Duration Track::rising() const { return calm() > kCalm ? Duration{} : last_.ran - rising_since_; }

std::vector<CurvePoint> Track::course() const {
  std::vector<CurvePoint> course;
  for (std::size_t i = 0; i < passed_count_ && kHorizons[i] < last_.ran; ++i) {
    course.push_back({kHorizons[i], {static_cast<std::uint64_t>(passed_[i])}});
  }
  if (has_samples()) course.push_back({last_.ran, last_.used});
  return course;
}

double Track::cores() const {
  return last_.ran > Duration{} ? seconds(last_.cpu) / seconds(last_.ran) : 0;
}

}  // namespace plimsoll::policy

#include "policy/track.h"

#include <algorithm>
#include <cmath>

namespace plimsoll::policy {
namespace {

// Growth and load are smoothed over about so many seconds: longer than the pauses of a job that
// grows in steps, short enough that one that has stopped growing is seen to have.
constexpr double kSmoothingSeconds = 5;
// A rise of the peak by less than this, and by less than kRiseMin, is noise.
constexpr double kRiseShare = 0.05;
constexpr Bytes kRiseMin{1ULL << 20};

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }
double number(Bytes bytes) { return static_cast<double>(bytes.count); }

}  // namespace

void Track::observe(const JobSample& sample) {
  peak_ = std::max({peak_, sample.peak, sample.used});
  const bool later = samples_ == 0 || sample.ran > last_.ran;
  if (!later) return;
  if (number(peak_) > number(marked_) * (1 + kRiseShare) && peak_ - marked_ >= kRiseMin) {
    marked_ = peak_;
    grown_at_ = sample.ran;
  }
  if (samples_ > 0) {
    const double passed = seconds(sample.ran - last_.ran);
    const double fresh = 1 - std::exp(-passed / kSmoothingSeconds);
    const double slope = (number(sample.used) - number(last_.used)) / passed;
    const double load = std::max(0.0, seconds(sample.cpu - last_.cpu)) / passed;
    growth_ += fresh * (slope - growth_);
    cores_ = samples_ == 1 ? load : cores_ + fresh * (load - cores_);
  }
  last_ = sample;
  ++samples_;
}

double Track::cores() const {
  return last_.ran > Duration{} ? seconds(last_.cpu) / seconds(last_.ran) : 0;
}

}  // namespace plimsoll::policy

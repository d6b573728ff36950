#include "policy/estimator/live_profile.h"

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

// Who waits for a core for no more of his time than the first of these is starved by nobody, and
// who does for more than the second computes whenever he is let.
constexpr double kWaitsLittle = 0.35, kWaitsMuch = 0.75;

// Who computes gets what he uses in the time that he does not wait; of several threads one waits
// nearly always, which says only that there is one more. Of who waits nearly all the time what is
// left of it is too little to tell how he would use it: he is believed to want what he waits for.
double wanted_of(double load, double waited) {
  const double most = load + waited;
  const double in_his_time = waited < 1 ? std::min(load / (1 - waited), most) : most;
  const double starved = (waited - kWaitsLittle) / (kWaitsMuch - kWaitsLittle);
  return in_his_time + std::clamp(starved, 0.0, 1.0) * (most - in_his_time);
}

// What a sample counts beside those before it, by the time since the last of them.
double fresh(double passed) { return 1 - std::exp(-passed / kSmoothingSeconds); }

}  // namespace

void LiveProfile::observe(const JobSample& sample) {
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
  const double passed = to_seconds(sample.ran - last_.ran);
  if (passed > 0) look_at_cores(sample, passed);
  if (samples_ > 0) look_at_memory(sample, passed);
  last_ = sample;
  ++samples_;
}

void LiveProfile::look_at_memory(const JobSample& sample, double passed) {
  const double slope = (to_double(sample.used) - to_double(last_.used)) / passed;
  const double jump = (slope - growth_) * passed;
  jumps_ += (1 - std::exp(-passed / kTrackWobbleSeconds)) * (jump * jump - jumps_);
  growth_ += fresh(passed) * (slope - growth_);
}

// From its start on, when it had used nothing and waited for nothing. While it has run for less
// than what is smoothed over, each sample counts by its time: the first is often of a few
// milliseconds, in which everybody loads libraries and waits for a core.
void LiveProfile::look_at_cores(const JobSample& sample, double passed) {
  const double load = std::max(0.0, to_seconds(sample.cpu - last_.cpu)) / passed;
  const Duration wait = sample.cpu_wait.value_or(Duration{}) - last_.cpu_wait.value_or(Duration{});
  const double wanted = wanted_of(load, std::clamp(to_seconds(wait) / passed, 0.0, 1.0));
  const double share = fresh(passed) / fresh(to_seconds(sample.ran));
  cores_ += share * (load - cores_);
  cores_wanted_ += share * (wanted - cores_wanted_);
}

// Of two samples that wobble alike about the same level the difference has twice the variance.
double LiveProfile::wobble() const { return std::sqrt(jumps_ / 2); }

Duration LiveProfile::rising() const {
  return calm() > kTrackCalm ? Duration{} : last_.ran - rising_since_;
}

double LiveProfile::cores() const {
  return last_.ran > Duration{} ? to_seconds(last_.cpu) / to_seconds(last_.ran) : 0;
}

double LiveProfile::cores_wanted() const {
  if (last_.ran <= Duration{}) return 0;
  const Duration waited = std::min(last_.cpu_wait.value_or(Duration{}), last_.ran);
  return wanted_of(cores(), to_seconds(waited) / to_seconds(last_.ran));
}

}  // namespace plimsoll::policy

#include "policy/estimator/class_past.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "policy/estimator/past_attempt.h"

namespace plimsoll::policy {
namespace {

// So many classes are remembered: users change.
constexpr std::size_t kSharesMax = 32;
// Before anything is known a hint is taken at its word, as if that had been seen twice.
constexpr double kWordWeight = 2;
// How far a hint may be off, as a share.
constexpr double kDoubtOfHint = 0.5;

// A straight line is not believed further away than this from what the class does on average.
constexpr double kTrendRatioMax = 10;
// Of a job whose load nobody has measured.
constexpr Belief kCores{1, 0.5};

void scale_bytes(Estimate& estimate, double factor) {
  estimate.peak = {estimate.peak.mean * factor, estimate.peak.spread * factor};
  for (Belief& ahead : estimate.ahead) ahead = {ahead.mean * factor, ahead.spread * factor};
  for (double& swing : estimate.swing) swing *= factor;
}

void scale_time(Estimate& estimate, double factor) {
  estimate.remaining = {estimate.remaining.mean * factor, estimate.remaining.spread * factor};
  const Estimate before = estimate;
  for (std::size_t i = 1; i < kHorizons.size(); ++i) {
    // The moment of the average attempt that this one is at then, between two horizons.
    const double then = to_seconds(kHorizons[i]) / factor;
    std::size_t after = 1;
    while (after + 1 < kHorizons.size() && to_seconds(kHorizons[after]) < then) ++after;
    const double from = to_seconds(kHorizons[after - 1]);
    const double share =
        std::clamp((then - from) / (to_seconds(kHorizons[after]) - from), 0.0, 1.0);
    const auto between = [share](double a, double b) { return a + share * (b - a); };
    estimate.survival[i] = between(before.survival[after - 1], before.survival[after]);
    estimate.ahead[i] = {between(before.ahead[after - 1].mean, before.ahead[after].mean),
                         between(before.ahead[after - 1].spread, before.ahead[after].spread)};
  }
}

// How many times what the attempts of the record had this one will have.
double ratio_to(const PastAttempt& record, const std::optional<Trend>& trend, const Sizes& sizes) {
  if (!trend) return 1;
  const auto here = trend->of(sizes);
  double sum = 0;
  double weight = 0;
  for (std::size_t i = 0; here && i < record.runs().size(); ++i) {
    const auto size = trend->of(record.runs()[i].sizes());
    if (!size) continue;
    sum += record.weight(i) * *size;
    weight += record.weight(i);
  }
  return weight > 0 ? trend->ratio(sum / weight, *here, kTrendRatioMax) : 1;
}

}  // namespace

void HintTrust::learn(Bytes hint, Bytes peak) {
  PLIMSOLL_CHECK(hint.count > 0);
  if (shares_.size() == kSharesMax) shares_.pop_front();
  shares_.push_back(to_double(peak) / to_double(hint));
}

Belief HintTrust::expect(Bytes hint) const {
  std::vector<Weighted> values = {{1, kWordWeight}};
  for (const double share : shares_) values.push_back({share, 1});
  const Belief share = believe(values, kDoubtOfHint);
  return {share.mean * to_double(hint), share.spread * to_double(hint)};
}

void ClassPast::learn(const AttemptSummary& attempt_summary) {
  record_.learn(attempt_summary);
  summary_.reset();
}

const ClassPast::Summary& ClassPast::summary() {
  if (summary_) return *summary_;
  summary_.emplace();
  const std::vector<Weighted> peaks = peaks_of(record_);
  const std::vector<Weighted> times = seconds_of(record_);
  summary_->trends = {.peak = find_trend(record_, peaks), .seconds = find_trend(record_, times)};
  Estimate& unstarted = summary_->unstarted;
  unstarted = forecast(record_, BySize{});
  unstarted.peak = believe(peaks, depth_.doubt);
  unstarted.remaining = believe(times, depth_.doubt);
  if (unstarted.cores.mean <= 0) unstarted.cores = kCores;
  const std::vector<Weighted> written = written_of(record_);
  if (!written.empty()) unstarted.written = believe(written, depth_.doubt);
  unstarted.io = io_of(record_);
  return *summary_;
}

Estimate ClassPast::unstarted(const Sizes& sizes) {
  const Trends& trends = summary().trends;
  Estimate estimate = unstarted(sizes, trends);
  if (trends.peak && trends.peak->of(sizes)) {
    // What the size explains is no doubt any more.
    const LineFit& line = trends.peak->line;
    const double left = std::sqrt(std::max(0.0, 1 - line.correlation * line.correlation));
    const double factor = ratio_to(record_, trends.peak, sizes);
    const double spread = summary().unstarted.peak.spread;
    estimate.peak.spread = std::max(spread * left, line.residual) * std::max(1.0, factor);
  }
  return estimate;
}

Estimate ClassPast::unstarted(const Sizes& sizes, const Trends& of_class) {
  Estimate estimate = summary().unstarted;
  const double bytes = ratio_to(record_, of_class.peak, sizes);
  const double seconds = ratio_to(record_, of_class.seconds, sizes);
  if (bytes != 1) scale_bytes(estimate, bytes);
  if (seconds != 1) scale_time(estimate, seconds);
  return estimate;
}

Forecast ClassPast::running(const Sizes& sizes, const LiveProfile& live_profile) {
  return running(sizes, trends(), live_profile);
}

Forecast ClassPast::running(const Sizes& sizes, const Trends& of_class,
                            const LiveProfile& live_profile) {
  const BySize size{.sizes = sizes,
                    .peak = of_class.peak ? &*of_class.peak : nullptr,
                    .seconds = of_class.seconds ? &*of_class.seconds : nullptr};
  Forecast seen = forecast(record_, size, live_profile);
  if (seen.estimate.cores.mean <= 0) seen.estimate.cores = summary().unstarted.cores;
  return seen;
}

}  // namespace plimsoll::policy

#include "policy/class_past.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace plimsoll::policy {
namespace {

// An input explains a figure from this correlation on, and from this many attempts.
constexpr double kCorrelationMin = 0.7;
constexpr std::size_t kFitRunsMin = 4;
// How far the figures of a class with a single attempt may mislead, as a share.
constexpr double kDoubtOfClass = 0.3;
// A straight line is not believed further away than this from what the class does on average.
constexpr double kTrendRatioMax = 10;
// Of a job whose load nobody has measured.
constexpr Belief kCores{1, 0.5};

std::optional<LineFit> explained(const Record& record, const std::vector<Weighted>& figures) {
  std::vector<FitPoint> points;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const Run& run = record.runs()[i];
    if (run.input) points.push_back({*run.input, figures[i].value, figures[i].weight});
  }
  if (points.size() < kFitRunsMin) return std::nullopt;
  auto fit = fit_line(points);
  if (fit && std::abs(fit->correlation) < kCorrelationMin) return std::nullopt;
  return fit;
}

// How many times the mean the line has at `input`.
double ratio(const LineFit& line, double input) {
  const double mean = line.at(line.mean_input);
  const double here = line.at(input);
  if (mean <= 0 || here <= 0) return 1;
  return std::clamp(here / mean, 1 / kTrendRatioMax, kTrendRatioMax);
}

void scale_bytes(Estimate& estimate, const LineFit& line, double input) {
  const double factor = ratio(line, input);
  // What the input explains is no doubt any more.
  const double left = std::sqrt(std::max(0.0, 1 - line.correlation * line.correlation));
  estimate.peak = {estimate.peak.mean * factor,
                   std::max(estimate.peak.spread * left, line.residual) * std::max(1.0, factor)};
  for (Belief& ahead : estimate.ahead) ahead = {ahead.mean * factor, ahead.spread * factor};
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

}  // namespace

void ClassPast::learn(const Experience& experience) {
  record_.learn(experience);
  summary_.reset();
}

const ClassPast::Summary& ClassPast::summary() {
  if (summary_) return *summary_;
  summary_.emplace();
  const std::vector<Weighted> peaks = peaks_of(record_);
  const std::vector<Weighted> times = seconds_of(record_);
  summary_->peak = explained(record_, peaks);
  summary_->seconds = explained(record_, times);
  Estimate& unstarted = summary_->unstarted;
  unstarted = forecast(record_, BySize{});
  unstarted.peak = believe(peaks, kDoubtOfClass);
  unstarted.remaining = believe(times, kDoubtOfClass);
  if (unstarted.cores.mean <= 0) unstarted.cores = kCores;
  return *summary_;
}

Estimate ClassPast::unstarted(std::optional<Bytes> input) {
  const Summary& known = summary();
  Estimate estimate = known.unstarted;
  if (!input) return estimate;
  if (known.peak) scale_bytes(estimate, *known.peak, to_double(*input));
  if (known.seconds) scale_time(estimate, ratio(*known.seconds, to_double(*input)));
  return estimate;
}

Forecast ClassPast::running(std::optional<Bytes> input, const Track& track) {
  const Summary& known = summary();
  BySize size;
  if (input) {
    size = {.input = to_double(*input),
            .peak = known.peak ? &*known.peak : nullptr,
            .seconds = known.seconds ? &*known.seconds : nullptr};
  }
  Forecast seen = forecast(record_, size, track);
  if (seen.estimate.cores.mean <= 0) seen.estimate.cores = known.unstarted.cores;
  return seen;
}

}  // namespace plimsoll::policy

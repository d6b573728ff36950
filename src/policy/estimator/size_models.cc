#include "policy/estimator/size_models.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "policy/estimator/estimator.h"
#include "policy/estimator/line_fit.h"

namespace plimsoll::policy {
namespace {

// A line through fewer points is chance.
constexpr std::size_t kLineRunsMin = 3;
// No model is believed further than this beyond what was ever seen.
constexpr double kBeyondMost = 2;
constexpr double kBelowLeast = 0.5;

std::optional<double>& of(Predictions& predictions, SizeModel model) {
  return predictions[static_cast<std::size_t>(model)];
}

struct WithInput {
  double input = 0;
  double peak = 0;
  double weight = 0;
};

std::optional<double> by_line(const std::vector<WithInput>& runs, double input) {
  std::vector<FitPoint> points;
  for (const WithInput& run : runs) points.push_back({run.input, run.peak, run.weight});
  const auto fit = fit_line(points);
  if (!fit) return std::nullopt;
  return fit->at(input);
}

std::optional<double> by_power(const std::vector<WithInput>& runs, double input) {
  std::vector<FitPoint> points;
  for (const WithInput& run : runs) {
    points.push_back({std::log1p(run.input), std::log(run.peak), run.weight});
  }
  const auto fit = fit_line(points);
  if (!fit) return std::nullopt;
  return std::exp(fit->at(std::log1p(input)));
}

struct Neighbour {
  double distance = 0;
  std::size_t age = 0;  // of runs equally near the newest come first
  double peak = 0;
};

// The most that one of the `count` nearest used.
std::optional<double> by_nearest(const std::vector<Neighbour>& sorted, std::size_t count) {
  if (sorted.size() <= count) return std::nullopt;
  double most = 0;
  for (std::size_t i = 0; i < count; ++i) most = std::max(most, sorted[i].peak);
  return most;
}

}  // namespace

double recency(std::size_t index, std::size_t count, double half_life) {
  return std::exp2(-static_cast<double>(count - 1 - index) / half_life);
}

Predictions predict(const std::deque<SizedRun>& past, std::optional<double> input) {
  Predictions predictions;
  if (past.empty()) return predictions;
  std::vector<WithInput> runs;
  double weight = 0;
  double sum = 0;
  double most = 0;
  double least = past.front().peak;
  for (std::size_t i = 0; i < past.size(); ++i) {
    const double counts = recency(i, past.size(), kHalfLifeRuns);
    weight += counts;
    sum += counts * past[i].peak;
    most = std::max(most, past[i].peak);
    least = std::min(least, past[i].peak);
    if (past[i].input) runs.push_back({*past[i].input, past[i].peak, counts});
  }
  of(predictions, SizeModel::mean) = sum / weight;
  if (!input || runs.size() < kLineRunsMin) return predictions;
  of(predictions, SizeModel::line) = by_line(runs, *input);
  of(predictions, SizeModel::power) = by_power(runs, *input);
  std::vector<Neighbour> sorted;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    sorted.push_back({.distance = std::abs(std::log1p(runs[i].input) - std::log1p(*input)),
                      .age = runs.size() - i,
                      .peak = runs[i].peak});
  }
  std::sort(sorted.begin(), sorted.end(), [](const Neighbour& a, const Neighbour& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.age < b.age;
  });
  of(predictions, SizeModel::nearest) = by_nearest(sorted, 1);
  of(predictions, SizeModel::nearest_3) = by_nearest(sorted, 3);
  of(predictions, SizeModel::nearest_6) = by_nearest(sorted, 6);
  for (auto& prediction : predictions) {
    if (prediction) *prediction = std::clamp(*prediction, kBelowLeast * least, kBeyondMost * most);
  }
  return predictions;
}

}  // namespace plimsoll::policy

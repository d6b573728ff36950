#include "policy/estimator/trend.h"

#include <algorithm>
#include <cmath>

namespace plimsoll::policy {
namespace {

// A size explains a figure from this correlation on, and from so many attempts; a number of the
// arguments from so many values.
constexpr double kCorrelationMin = 0.7;
constexpr std::size_t kFitRunsMin = 4;
// By chance alone one number in 370 fits so well (three standard deviations of Fisher's z), and
// one command in 46 has such a one among the most that are looked at.
constexpr double kChanceDeviations = 3;

double correlation_needed(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto end = std::unique(values.begin(), values.end());
  const auto different = static_cast<std::size_t>(end - values.begin());
  if (different < kFitRunsMin) return 2;  // more than there is
  const double freedom = static_cast<double>(different) - 3;
  return std::max(kCorrelationMin, std::tanh(kChanceDeviations / std::sqrt(freedom)));
}

// The values as their places in order, from 0; equal ones share theirs.
void rank(std::vector<FitPoint>& points, double FitPoint::* value) {
  std::vector<double> sorted;
  sorted.reserve(points.size());
  for (const FitPoint& point : points) sorted.push_back(point.*value);
  std::sort(sorted.begin(), sorted.end());
  for (FitPoint& point : points) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), point.*value);
    const auto places = (first - sorted.begin()) + (last - sorted.begin()) - 1;
    point.*value = static_cast<double>(places) / 2;
  }
}

// A number must fit in order too (Spearman's correlation): a single attempt far off from all others
// makes a line by itself.
bool fits_in_order(std::vector<FitPoint> points, double needed) {
  rank(points, &FitPoint::input);
  rank(points, &FitPoint::value);
  const auto fit = fit_line(points);
  return fit && std::abs(fit->correlation) >= needed;
}

std::optional<LineFit> explained_by(std::size_t size, std::size_t numbers,
                                    const PastAttempt& record,
                                    const std::vector<Weighted>& figures) {
  std::vector<FitPoint> points;
  std::vector<double> values;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const Run& run = record.runs()[i];
    const auto value = run.sizes().at(size);
    if (!value || (size != Sizes::kInput && run.numbers.size() != numbers)) continue;
    points.push_back({*value, figures[i].value, figures[i].weight});
    values.push_back(*value);
  }
  if (points.size() < kFitRunsMin) return std::nullopt;
  const double needed =
      size == Sizes::kInput ? kCorrelationMin : correlation_needed(std::move(values));
  const auto fit = fit_line(points);
  if (!fit || std::abs(fit->correlation) < needed) return std::nullopt;
  return size == Sizes::kInput || fits_in_order(std::move(points), needed) ? fit : std::nullopt;
}

}  // namespace

std::optional<double> Trend::of(const Sizes& sizes) const {
  if (size != Sizes::kInput && sizes.numbers.size() != numbers) return std::nullopt;
  return sizes.at(size);
}

double Trend::ratio(double from, double to, double most) const {
  const double there = line.at(from);
  const double here = line.at(to);
  // A line that has gone below nothing tells nothing.
  if (here <= 0 || there <= 0) return 1;
  return std::clamp(here / there, 1 / most, most);
}

double Trend::ratio(const Sizes& from, const Sizes& to, double most) const {
  const auto there = of(from);
  const auto here = of(to);
  return there && here ? ratio(*there, *here, most) : 1;
}

std::optional<Trend> find_trend(const PastAttempt& record, const std::vector<Weighted>& figures) {
  const std::size_t numbers = record.runs().back().numbers.size();
  std::optional<Trend> best;
  for (std::size_t size = Sizes::kInput; size <= numbers; ++size) {
    const auto line = explained_by(size, numbers, record, figures);
    if (!line) continue;
    if (best && std::abs(line->correlation) <= std::abs(best->line.correlation)) continue;
    best = Trend{.size = size, .numbers = numbers, .line = *line};
  }
  return best;
}

}  // namespace plimsoll::policy

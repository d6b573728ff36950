#include "estimator/sizing.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/check.h"
#include "policy/estimator/line_fit.h"
#include "policy/estimator/past_attempt.h"

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

// The shares of past errors that are covered; the first two are all of them, and beyond.
constexpr auto kCovered = std::to_array<double>({1, 1, 0.98, 0.95, 0.9, 0.8});
// On top of that come so many standard deviations of the errors: the next one is not quite like
// those before. The second rule of kCovered goes further.
constexpr double kBeyondLargest = 0.1;
constexpr double kFurtherBeyond = 0.5;
// And this share: two attempts that do the same differ by it.
constexpr double kMargin = 0.005;
// Nothing is gained by counting more finely than this.
constexpr double kLeast = 16.0 * 1024 * 1024;
// No reservation is more than so many times the most ever seen: an error that is large as a share
// of a tiny prediction says nothing of a large one.
constexpr double kBeyondMostSeen = 2;
// A single error known: as if another had been such a share of the prediction.
constexpr double kFirstError = 0.1;
// Errors are remembered longer than what a prediction rests on: a rare one that costs a hundred
// times what is reserved too much is seen only in many attempts.
constexpr double kErrorsHalfLife = 80;
constexpr std::size_t kErrorsMax = 128;
// How much cheaper rules count more: one that costs twice as much has 1/256 of the say. A mean over
// many rules fails less often than the best of them.
constexpr double kPreference = 8;
// No attempt counts for more than so many times the mean running time: what a rule has cost would
// be the luck of a single one.
constexpr double kLongest = 2;
// A rule must have been tried so often before its cost means something.
constexpr unsigned kTriedMin = 3;
// A failure costs more than what it reserved: whoever waits for the job waits longer. As a share of
// peak times running time.
constexpr double kFailureCost = 0.5;
// Those beyond what reserving the most ever seen would have had cost so many more such tasks, peak
// times running time.
constexpr double kFailurePrice = 3;
// Beyond all that was seen the next try is larger by this.
constexpr double kEnlarge = 1.5;
// How the rule that reserves the most ever seen would go on after a failure.
constexpr double kMostAgain = 1.05;
constexpr double kMostEnlarge = 2;

struct Error {
  double value = 0;
  double weight = 0;
};

// The least value that covers `share` of the weight; `errors` are sorted and not empty.
double covering(const std::vector<Error>& errors, double share) {
  double all = 0;
  for (const Error& error : errors) all += error.weight;
  double sum = 0;
  for (const Error& error : errors) {
    sum += error.weight;
    if (sum >= share * all) return error.value;
  }
  return errors.back().value;
}

double deviation(const std::vector<Error>& errors) {
  double weight = 0;
  double sum = 0;
  for (const Error& error : errors) {
    weight += error.weight;
    sum += error.weight * error.value;
  }
  double squares = 0;
  for (const Error& error : errors) {
    squares += error.weight * (error.value - sum / weight) * (error.value - sum / weight);
  }
  return std::sqrt(squares / weight);
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

double Sizing::most() const {
  double most = 0;
  for (const SizedRun& run : past_) most = std::max(most, run.peak);
  return most;
}

double Sizing::mean_seconds() const {
  double weight = 0;
  double sum = 0;
  for (std::size_t i = 0; i < past_.size(); ++i) {
    const double counts = recency(i, past_.size(), kHalfLifeRuns);
    weight += counts;
    sum += counts * past_[i].seconds;
  }
  return sum / weight;
}

// Bytes times seconds of an attempt.
double Sizing::mean_size() const {
  double weight = 0;
  double sum = 0;
  for (std::size_t i = 0; i < past_.size(); ++i) {
    const double counts = recency(i, past_.size(), kHalfLifeRuns);
    weight += counts;
    sum += counts * past_[i].peak * past_[i].seconds;
  }
  return sum / weight;
}

// Twice over, as errors are shares of the prediction in some classes and plain bytes in others.
void Sizing::add_offers(Offers& offers, std::size_t model, double predicted) const {
  std::vector<Error> factors;
  std::vector<Error> differences;
  for (std::size_t i = 0; i < past_.size(); ++i) {
    const auto& said = past_[i].predicted[model];
    if (!said) continue;
    const double weight = recency(i, past_.size(), kErrorsHalfLife);
    factors.push_back({past_[i].peak / *said, weight});
    differences.push_back({past_[i].peak - *said, weight});
  }
  if (factors.size() < 2) {
    if (model != static_cast<std::size_t>(SizeModel::mean)) return;
    factors.insert(factors.end(), {{1, 1}, {1 + kFirstError, 1}});
    differences.insert(differences.end(), {{0, 1}, {kFirstError * predicted, 1}});
  }
  const auto less = [](const Error& a, const Error& b) { return a.value < b.value; };
  std::sort(factors.begin(), factors.end(), less);
  std::sort(differences.begin(), differences.end(), less);
  const double factor_deviation = deviation(factors);
  const double difference_deviation = deviation(differences);
  const double furthest = std::max(kLeast, kBeyondMostSeen * most());
  for (std::size_t c = 0; c < kCovers; ++c) {
    const double beyond = c == 1 ? kFurtherBeyond : kBeyondLargest;
    const double factor = covering(factors, kCovered[c]) + beyond * factor_deviation;
    const double difference = covering(differences, kCovered[c]) + beyond * difference_deviation;
    const std::size_t rule = model * 2 * kCovers + c;
    offers[rule] = std::clamp(predicted * factor * (1 + kMargin), kLeast, furthest);
    offers[rule + kCovers] = std::clamp((predicted + difference) * (1 + kMargin), kLeast, furthest);
  }
}

Sizing::Offers Sizing::offers(const Predictions& predictions) const {
  Offers offers;
  for (std::size_t model = 0; model < kSizeModels; ++model) {
    if (predictions[model]) add_offers(offers, model, *predictions[model]);
  }
  return offers;
}

double Sizing::choose(const Offers& offers) const {
  struct Candidate {
    double cost = 0;
    double offer = 0;
  };
  const double failure = kFailurePrice * mean_size();
  std::vector<Candidate> candidates;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t rule = 0; rule < kRules; ++rule) {
    const Tally& tally = tallies_[rule];
    const bool of_mean = rule < 2 * kCovers;
    if (!offers[rule] || (tally.count < kTriedMin && !of_mean)) continue;
    const double too_often = std::max(0.0, tally.failures - tally.failures_of_most);
    const double cost = tally.weight > 0 ? (tally.cost + too_often * failure) / tally.weight : 0;
    candidates.push_back({.cost = cost, .offer = *offers[rule]});
    least = std::min(least, cost);
  }
  PLIMSOLL_CHECK(!candidates.empty());
  double says = 0;
  double sum = 0;
  for (const Candidate& candidate : candidates) {
    const double say = candidate.cost > 0 ? std::pow(least / candidate.cost, kPreference) : 1;
    says += say;
    sum += say * candidate.offer;
  }
  return sum / says;
}

double Sizing::next_after(double failed) const {
  const double again = most() * (1 + kMargin);
  return again > failed ? again : failed * kEnlarge;
}

void Sizing::tally(const Offers& offers, const SizedRun& run) {
  const double most_seen = most();
  double failures_of_most = 0;
  for (double reserved = most_seen; reserved < run.peak; ++failures_of_most) {
    reserved = most_seen * kMostAgain > reserved ? most_seen * kMostAgain : reserved * kMostEnlarge;
  }
  const double fade = std::exp2(-1 / kErrorsHalfLife);
  const double seconds = std::min(run.seconds, kLongest * mean_seconds());
  for (std::size_t rule = 0; rule < kRules; ++rule) {
    Tally& tally = tallies_[rule];
    tally.cost *= fade;
    tally.failures *= fade;
    tally.failures_of_most *= fade;
    tally.weight *= fade;
    if (!offers[rule]) continue;
    double reserved = *offers[rule];
    double cost = 0;
    for (; reserved < run.peak; reserved = next_after(reserved)) {
      cost += (reserved + kFailureCost * run.peak) * seconds;
      tally.failures += 1;
    }
    tally.cost += cost + (reserved - run.peak) * seconds;
    tally.failures_of_most += failures_of_most;
    tally.weight += 1;
    ++tally.count;
  }
}

void Sizing::learn(const SizedJob& job) {
  SizedRun run{.peak = std::max(1.0, to_double(job.peak)),
               .seconds = to_seconds(job.ran),
               .input = job.input ? std::optional(to_double(*job.input)) : std::nullopt};
  if (!past_.empty()) {
    run.predicted = predict(past_, run.input);
    tally(offers(run.predicted), run);
  }
  if (past_.size() == kErrorsMax) past_.pop_front();
  past_.push_back(run);
}

Bytes Sizing::first(std::optional<Bytes> input) const {
  PLIMSOLL_CHECK(knows());
  const auto size = input ? std::optional(to_double(*input)) : std::nullopt;
  return to_bytes(choose(offers(predict(past_, size))));
}

Bytes Sizing::after(Bytes failed) const {
  return std::max(to_bytes(next_after(to_double(failed))), failed + Bytes{1});
}

}  // namespace plimsoll::policy

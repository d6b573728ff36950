#include "policy/record.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "policy/estimator.h"

namespace plimsoll::policy {
namespace {

// How much more is expected of an attempt that was cut off beyond all that was ever seen.
constexpr double kBeyond = 1.25;

struct Bound {
  double value = 0;
  Seen seen = Seen::whole;
  double weight = 0;
};

std::vector<Weighted> resolve(const std::vector<Bound>& bounds) {
  std::vector<Weighted> resolved;
  resolved.reserve(bounds.size());
  for (const Bound& bound : bounds) {
    double value = bound.value;
    if (bound.seen == Seen::at_least) {
      double sum = 0;
      double weight = 0;
      for (const Bound& other : bounds) {
        if (other.seen == Seen::whole && other.value > bound.value) {
          sum += other.weight * other.value;
          weight += other.weight;
        }
      }
      value = weight > 0 ? sum / weight : bound.value * kBeyond;
    }
    resolved.push_back({value, bound.weight});
  }
  return resolved;
}

}  // namespace

Run run_of(const Experience& experience) {
  return {.peak = to_double(experience.peak),
          .peak_seen = experience.peak_seen,
          .seconds = to_seconds(experience.ran),
          .ran_seen = experience.ran_seen,
          .cores = experience.cores,
          .input = experience.input ? std::optional(to_double(*experience.input)) : std::nullopt,
          .course = Course(experience)};
}

void Record::learn(const Experience& experience) {
  if (runs_.size() == kRunsMax) runs_.pop_front();
  runs_.push_back(run_of(experience));
  ++attempts_;
}

double Record::weight(std::size_t index) const {
  static const auto kWeights = [] {
    std::array<double, kRunsMax> weights{};
    for (std::size_t age = 0; age < kRunsMax; ++age) {
      weights[age] = std::exp2(-static_cast<double>(age) / kHalfLifeRuns);
    }
    return weights;
  }();
  PLIMSOLL_CHECK(index < runs_.size());
  return kWeights[runs_.size() - 1 - index];
}

Belief believe(const std::vector<Weighted>& values, double doubt) {
  double weight = 0;
  double squares = 0;
  double sum = 0;
  for (const Weighted& one : values) {
    weight += one.weight;
    squares += one.weight * one.weight;
    sum += one.weight * one.value;
  }
  PLIMSOLL_CHECK(weight > 0);
  const double mean = sum / weight;
  double deviations = 0;
  for (const Weighted& one : values) {
    deviations += one.weight * (one.value - mean) * (one.value - mean);
  }
  // As if one more value had been seen, off by `doubt`; and the mean itself is not known exactly.
  const double count = weight * weight / squares;
  const double variance =
      (doubt * doubt * mean * mean / count + deviations / weight) * (1 + 1 / count);
  return {mean, std::sqrt(variance)};
}

std::vector<Weighted> peaks_of(const Record& record) {
  std::vector<Bound> bounds;
  for (std::size_t i = 0; i < record.runs().size(); ++i) {
    const Run& run = record.runs()[i];
    bounds.push_back({run.peak, run.peak_seen, record.weight(i)});
  }
  return resolve(bounds);
}

std::vector<Weighted> seconds_of(const Record& record) {
  std::vector<Bound> bounds;
  for (std::size_t i = 0; i < record.runs().size(); ++i) {
    const Run& run = record.runs()[i];
    bounds.push_back({run.seconds, run.ran_seen, record.weight(i)});
  }
  return resolve(bounds);
}

}  // namespace plimsoll::policy

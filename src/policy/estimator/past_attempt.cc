#include "policy/estimator/past_attempt.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "base/check.h"

namespace plimsoll::policy {
namespace {

// Of an attempt whose course is not known: the share of its time by which it has its peak, and the
// share of the peak that it starts with. Guesses that err on the side of early.
constexpr double kRiseTime = 0.1;
constexpr double kRiseStart = 0.3;

float seconds(Duration time) { return std::chrono::duration<float>(time).count(); }
float number(Bytes bytes) { return static_cast<float>(bytes.count); }

// How much more is expected of an attempt that was cut off beyond all that was ever seen.
constexpr double kBeyond = 1.25;

// How far the pace of an attempt is off that of a single one before it, and at least of however
// many.
constexpr double kPaceDoubt = 0.4;
constexpr double kPaceLeast = 0.03;

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

MemoryCurve::MemoryCurve(const AttemptSummary& attempt_summary) {
  seconds_.fill(std::numeric_limits<float>::infinity());
  const float peak = number(attempt_summary.peak);
  if (attempt_summary.curve.empty()) {
    add(0, static_cast<float>(kRiseStart) * peak);
    add(static_cast<float>(kRiseTime) * seconds(attempt_summary.ran), peak);
  } else {
    for (const CurvePoint& point : thin(attempt_summary.curve)) {
      add(seconds(point.at), number(point.used));
    }
  }
  // A peak between two samples is known to the kernel alone; it belongs where most was seen.
  const auto end = used_.begin() + static_cast<std::ptrdiff_t>(size_);
  float& highest = *std::max_element(used_.begin(), end);
  highest = std::max(highest, peak);
  // The last look is at what an attempt has left behind. It has used until then what it had: what
  // ends goes at once, and not little by little since the look before.
  if (size_ > 1) used_[size_ - 1] = std::max(used_[size_ - 1], used_[size_ - 2]);
  float most = 0;
  for (std::size_t i = 0; i < size_; ++i) most_until_[i] = most = std::max(most, used_[i]);
  most = 0;
  for (std::size_t i = size_; i-- > 0;) most_from_[i] = most = std::max(most, used_[i]);
}

void MemoryCurve::add(float seconds, float used) {
  seconds_[size_] = seconds;
  used_[size_] = used;
  ++size_;
}

Run run_of(const AttemptSummary& attempt_summary) {
  const double seconds = to_seconds(attempt_summary.ran);
  const bool is_whole = attempt_summary.ran_seen == Seen::whole && seconds > 0;
  return {.peak = to_double(attempt_summary.peak),
          .peak_seen = attempt_summary.peak_seen,
          .seconds = seconds,
          .ran_seen = attempt_summary.ran_seen,
          .length = is_whole ? std::optional(std::log(seconds)) : std::nullopt,
          .cores = attempt_summary.cores,
          .input = attempt_summary.input ? std::optional(to_double(*attempt_summary.input))
                                         : std::nullopt,
          .written = attempt_summary.written ? std::optional(to_double(*attempt_summary.written))
                                             : std::nullopt,
          .io = io_need(attempt_summary.io_wait, attempt_summary.io, attempt_summary.ran),
          .numbers = attempt_summary.numbers,
          .course = MemoryCurve(attempt_summary)};
}

void PastAttempt::learn(const AttemptSummary& attempt_summary) {
  if (runs_.size() == runs_max_) runs_.pop_front();
  runs_.push_back(run_of(attempt_summary));
  ++attempts_;
  weigh_paces();
}

// Where all took about as long, so will the next; else it may be the same work at any pace between.
void PastAttempt::weigh_paces() {
  double sum = 0, squares = 0, whole = 0;
  for (const Run& run : runs_) {
    if (!run.length) continue;
    sum += *run.length;
    squares += *run.length * *run.length;
    ++whole;
  }
  pace_doubt_ = kPaceDoubt;
  if (whole < 2) return;
  const double mean = sum / whole;
  const double spread = std::sqrt(std::max(0.0, squares / whole - mean * mean));
  pace_doubt_ = std::clamp(std::max(spread, kPaceDoubt / std::sqrt(whole)), kPaceLeast, kPaceDoubt);
}

double PastAttempt::weight(std::size_t index) const {
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

double doubt_left(double doubt, double attempts) { return doubt / std::pow(attempts, kDoubtFades); }

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
  // The mean itself is not known exactly either.
  const double count = weight * weight / squares;
  const double alike = doubt_left(doubt, count) * mean;
  const double variance = (alike * alike + deviations / weight) * (1 + 1 / count);
  return {mean, std::sqrt(variance)};
}

std::vector<Weighted> peaks_of(const PastAttempt& record) {
  std::vector<Bound> bounds;
  for (std::size_t i = 0; i < record.runs().size(); ++i) {
    const Run& run = record.runs()[i];
    bounds.push_back({run.peak, run.peak_seen, record.weight(i)});
  }
  return resolve(bounds);
}

std::vector<Weighted> seconds_of(const PastAttempt& record) {
  std::vector<Bound> bounds;
  for (std::size_t i = 0; i < record.runs().size(); ++i) {
    const Run& run = record.runs()[i];
    bounds.push_back({run.seconds, run.ran_seen, record.weight(i)});
  }
  return resolve(bounds);
}

std::vector<Weighted> written_of(const PastAttempt& record) {
  std::vector<Bound> bounds;
  for (std::size_t i = 0; i < record.runs().size(); ++i) {
    const Run& run = record.runs()[i];
    if (run.written) bounds.push_back({*run.written, run.peak_seen, record.weight(i)});
  }
  return resolve(bounds);
}

std::optional<IoNeed> io_of(const PastAttempt& record) {
  IoNeed mean;
  double weight = 0;
  for (std::size_t i = 0; i < record.runs().size(); ++i) {
    const auto& io = record.runs()[i].io;
    if (!io) continue;
    weight += record.weight(i);
    mean.waited += record.weight(i) * io->waited;
    mean.bytes_per_second += record.weight(i) * io->bytes_per_second;
  }
  if (weight <= 0) return std::nullopt;
  return IoNeed{.waited = mean.waited / weight, .bytes_per_second = mean.bytes_per_second / weight};
}

}  // namespace plimsoll::policy

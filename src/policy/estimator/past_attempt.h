#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "policy/estimator/attempt_summary.h"
#include "policy/estimator/estimate.h"
#include "policy/estimator/memory_curve.h"
#include "policy/estimator/sizes.h"

namespace plimsoll::policy {

// One past attempt, as numbers.
struct Run {
  double peak = 0;  // bytes
  Seen peak_seen = Seen::whole;
  double seconds = 0;
  Seen ran_seen = Seen::whole;
  std::optional<double> cores;
  std::optional<double> input;  // bytes
  std::vector<double> numbers;
  MemoryCurve course;
  [[nodiscard]] Sizes sizes() const { return {.input = input, .numbers = numbers}; }
};
[[nodiscard]] Run run_of(const AttemptSummary& attempt_summary);

// The last attempts of a class, a tool or a command, `runs_max` (at most kRunsMax), oldest first.
//
// Invariant: not empty once learn() was called; `weights()` has one weight for each run, of which
// the newest is 1.
class PastAttempt {
 public:
  explicit PastAttempt(std::size_t runs_max) : runs_max_(runs_max) {}

  void learn(const AttemptSummary& attempt_summary);

  [[nodiscard]] const std::deque<Run>& runs() const { return runs_; }
  [[nodiscard]] double weight(std::size_t index) const;
  [[nodiscard]] std::uint32_t attempts() const { return attempts_; }
  // How far the pace of the next attempt is believed to be from that of one of these, as a share.
  [[nodiscard]] double pace_doubt() const { return pace_doubt_; }

 private:
  void weigh_paces();

  std::size_t runs_max_;
  std::deque<Run> runs_;
  double pace_doubt_ = 0;
  std::uint32_t attempts_ = 0;  // ever
};

// How far attempts that were alike may still mislead about the next one, as a share, where a single
// one may by `doubt`: that they differ by chance is ruled out by the square root of their number
// alone; that they agree so well by chance, by more.
[[nodiscard]] double doubt_left(double doubt, double attempts);
inline constexpr double kDoubtFades = 0.7;

// What a figure of the next attempt is believed to be after those of `values`, each with its weight
// (not negative, one at least above 0). The spread shrinks as values come in: with each it counts
// less that they might differ by the share `doubt`.
struct Weighted {
  double value = 0;
  double weight = 0;
};
[[nodiscard]] Belief believe(const std::vector<Weighted>& values, double doubt);

// The peaks (or running times) of a record with its weights. One of which only a lower bound is
// known counts as the mean of those that are larger, or as a quarter more if there is none: so it
// never lowers what is believed.
[[nodiscard]] std::vector<Weighted> peaks_of(const PastAttempt& record);
[[nodiscard]] std::vector<Weighted> seconds_of(const PastAttempt& record);

}  // namespace plimsoll::policy

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "policy/estimator/attempt_summary.h"
#include "policy/estimator/estimate.h"
#include "policy/estimator/sizes.h"

namespace plimsoll::policy {

// How the memory of one attempt went, made ready for being asked often: bytes and seconds as
// floats, straight lines between the points.
class MemoryCurve {
 public:
  // Of an experience; one without a curve is taken to rise soon to its peak and stay there. Before
  // the first point and after the last the value stays as there.
  explicit MemoryCurve(const AttemptSummary& attempt_summary);

  // One place on the course, found once and asked several times.
  struct Place {
    std::size_t after = 0;  // the first point later than the place
    double seconds = 0;
  };
  [[nodiscard]] Place find(double seconds) const {
    const auto sought = static_cast<float>(seconds);
    std::uint32_t after = 0;  // counting all is quicker than searching: no branch to guess wrong
    for (const float at : seconds_) after += at <= sought ? 1U : 0U;
    return {after, seconds};
  }
  // The same when `seconds` is not before `from`.
  [[nodiscard]] Place find(double seconds, const Place& from) const {
    const auto sought = static_cast<float>(seconds);
    Place place{from.after, seconds};
    while (place.after < size_ && seconds_[place.after] <= sought) ++place.after;
    return place;
  }

  // Bytes in use there.
  [[nodiscard]] double used(const Place& place) const {
    if (place.after == 0) return used_.front();
    if (place.after == size_) return used_[size_ - 1];
    const double from = seconds_[place.after - 1];
    const double to = seconds_[place.after];
    const double share = std::clamp((place.seconds - from) / (to - from), 0.0, 1.0);
    return used_[place.after - 1] + share * (double{used_[place.after]} - used_[place.after - 1]);
  }
  // The most between two places.
  [[nodiscard]] double most_between(const Place& from, const Place& to) const {
    double most = std::max(used(from), used(to));
    for (std::size_t i = from.after; i < to.after; ++i) most = std::max(most, double{used_[i]});
    return most;
  }
  [[nodiscard]] double least_between(const Place& from, const Place& to) const {
    double least = std::min(used(from), used(to));
    for (std::size_t i = from.after; i < to.after; ++i) least = std::min(least, double{used_[i]});
    return least;
  }
  // The most up to there, and from there on, if `used` is what is in use there.
  [[nodiscard]] double most_until(const Place& place, double used) const {
    return place.after == 0 ? used : std::max(used, double{most_until_[place.after - 1]});
  }
  [[nodiscard]] double most_from(const Place& place, double used) const {
    return place.after == size_ ? used : std::max(used, double{most_from_[place.after]});
  }

 private:
  void add(float seconds, float used);

  // Side by side, so that a search reads two cache lines.
  using Column = std::array<float, kCurvePointsMax>;
  std::size_t size_ = 0;  // at least one, in order of time; beyond, seconds_ are infinite
  Column seconds_;
  Column used_{};
  Column most_until_{};  // of all points up to this one
  Column most_from_{};   // of this one and all later
};

// One past attempt, as numbers.
struct Run {
  double peak = 0;  // bytes
  Seen peak_seen = Seen::whole;
  double seconds = 0;
  Seen ran_seen = Seen::whole;
  std::optional<double> length;  // the logarithm of `seconds`, where all of them were seen
  std::optional<double> cores;
  std::optional<double> input;    // bytes
  std::optional<double> written;  // bytes
  std::optional<IoNeed> io;
  std::vector<double> numbers;
  MemoryCurve course;
  [[nodiscard]] Sizes sizes() const { return {.input = input, .numbers = numbers}; }
};
[[nodiscard]] Run run_of(const AttemptSummary& attempt_summary);

// So many attempts of each class are remembered: three half-lives of kHalfLifeRuns.
inline constexpr std::size_t kRunsMax = 64;
// And so many of each command, which say nearly the same.
inline constexpr std::size_t kRunsOfCommandMax = 4;
// After so many newer attempts an old one counts half.
inline constexpr double kHalfLifeRuns = 20;

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
// The same of what was written; empty: not known of any.
[[nodiscard]] std::vector<Weighted> written_of(const PastAttempt& record);
// The mean of what they did with devices; absent: not known of any.
[[nodiscard]] std::optional<IoNeed> io_of(const PastAttempt& record);

}  // namespace plimsoll::policy

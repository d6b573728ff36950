#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "base/units.h"

namespace plimsoll::policy {

// Ways to say beforehand how much an attempt will use, from earlier ones: candidates, of which
// `sizing.h` finds out which one is right for a class.

enum class SizeModel : std::uint8_t {
  mean,       // what they used on average
  line,       // a straight line over the size of the input
  power,      // a straight line over the logarithms of both
  nearest,    // what the one with the most similar input used
  nearest_3,  // the most that one of the three most similar used
  nearest_6,  //
};
inline constexpr std::size_t kSizeModels = 6;

// By SizeModel, in bytes and above 0; nothing where the model can't tell.
using Predictions = std::array<std::optional<double>, kSizeModels>;

// One attempt that has ended.
struct SizedRun {
  double peak = 0;              // bytes, above 0
  double seconds = 0;           //
  std::optional<double> input;  // bytes
  Predictions predicted{};      // what was said of it before it ran
};

// `past`: oldest first; newer ones count for more. `input`: of the attempt to come.
[[nodiscard]] Predictions predict(const std::deque<SizedRun>& past, std::optional<double> input);

// How much the run at `index` of `count` counts: the newest 1, the one `half_life` runs older half.
[[nodiscard]] double recency(std::size_t index, std::size_t count, double half_life);

// What to set aside for a job where that is a hard limit: too much is wasted as long as it runs,
// too little loses all that it has done.

// What is known of one attempt whose peak is known.
struct SizedJob {
  Bytes peak;
  Duration ran{};
  std::optional<Bytes> input{};
};

// The reservations of one class.
//
// Many rules stand side by side: each a model of size_models.h with what to put on top of it, by
// the errors that this very model has made. For each it is kept what it would have cost on the past
// of the class (bytes times seconds reserved and not used, and all that failed attempts reserved)
// and how often it would have failed: what goes beyond the failures of reserving the most that was
// ever seen is paid for by the failure. All have a say, the cheaper the more.
//
// Bounded: it remembers 128 attempts.
class Sizing {
 public:
  void learn(const SizedJob& job);

  [[nodiscard]] bool knows() const { return !past_.empty(); }
  // At least one attempt is known.
  [[nodiscard]] Bytes first(std::optional<Bytes> input) const;
  // What to try after an attempt has outgrown `failed`: more than that.
  [[nodiscard]] Bytes after(Bytes failed) const;

 private:
  // What is put on top of a prediction: such a share of its past errors is covered.
  static constexpr std::size_t kCovers = 6;
  static constexpr std::size_t kRules = kSizeModels * 2 * kCovers;
  using Offers = std::array<std::optional<double>, kRules>;

  // All fade alike as newer attempts come.
  struct Tally {
    double cost = 0;
    double failures = 0;
    double failures_of_most = 0;  // of reserving the most ever seen, in the same attempts
    double weight = 0;
    unsigned count = 0;
  };

  [[nodiscard]] Offers offers(const Predictions& predictions) const;
  void add_offers(Offers& offers, std::size_t model, double predicted) const;
  [[nodiscard]] double choose(const Offers& offers) const;
  [[nodiscard]] double next_after(double failed) const;
  [[nodiscard]] double most() const;
  [[nodiscard]] double mean_seconds() const;
  [[nodiscard]] double mean_size() const;
  void tally(const Offers& offers, const SizedRun& run);

  std::deque<SizedRun> past_;  // oldest first
  std::array<Tally, kRules> tallies_{};
};

}  // namespace plimsoll::policy

#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "policy/estimate.h"
#include "policy/experience.h"
#include "policy/signature.h"
#include "policy/track.h"

namespace plimsoll::policy {

// What is known of one job beside its key.
struct JobFacts {
  std::optional<Bytes> memory_hint{};  // what the user expects; ignored once the class has a past
  std::optional<double> cpu_hint{};    // cores, likewise
  std::optional<Bytes> input{};        // what it has to read
  // The most that an earlier, evicted attempt of this very job was seen to use: it needs more.
  std::optional<Bytes> reached{};
};

// Learns from attempts that are over and tells what others will need.
//
// Pure and deterministic: its state is a function of the experiences in the order in which they
// came, of which only the last kRunsMax of each class matter. So whoever stores those and feeds
// them back in order has it again. Not for several threads, not even to ask: summaries are made
// when first needed.
class Estimator {
 public:
  Estimator();
  ~Estimator();
  Estimator(Estimator&&) noexcept;
  Estimator& operator=(Estimator&&) noexcept;

  // O(1); the summary of its class is made anew when somebody asks for it.
  void learn(const Experience& experience);

  // Of a job that has not started. Well under 1 us while its class learns nothing new.
  [[nodiscard]] Estimate estimate(const Key& key, const JobFacts& facts) const;

  // Of a running attempt, by what it has shown: a few us.
  [[nodiscard]] Estimate estimate(const Key& key, const JobFacts& facts, const Track& track) const;

  [[nodiscard]] std::size_t classes_known() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

// So many attempts of each class are remembered: three half-lives of kHalfLifeRuns.
inline constexpr std::size_t kRunsMax = 64;
// After so many newer attempts an old one counts half.
inline constexpr double kHalfLifeRuns = 20;
// So many classes and so many tools are remembered; beyond, the one that was longest without news
// goes.
inline constexpr std::size_t kClassesMax = 10'000;

}  // namespace plimsoll::policy

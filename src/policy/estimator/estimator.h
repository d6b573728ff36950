#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "policy/estimator/attempt_summary.h"
#include "policy/estimator/class_past.h"
#include "policy/estimator/estimate.h"
#include "policy/estimator/live_profile.h"
#include "policy/estimator/past_attempt.h"
#include "policy/estimator/prior.h"
#include "policy/estimator/showing.h"
#include "policy/estimator/signature.h"

namespace plimsoll::policy {

// So many jobs of which nothing is known are believed to fit below the line side by side: people
// run on a machine what it can carry, a few at a time.
inline constexpr double kUnknownBeside = 4;

// What is known of one owner's jobs.
class OwnerPast {
 public:
  OwnerPast(std::size_t classes_max, std::size_t commands_max);

  void learn(const AttemptSummary& attempt_summary);
  // As Estimator::show() and Estimator::expect_below().
  void show(const Key& key, const Showing& before, const Showing& now);
  void expect_below(Bytes line) { line_ = to_double(line); }

  // The narrowest past that tells something of the key, and what it is called; null: there is none.
  struct Found {
    ClassPast* past = nullptr;
    Basis basis{};
  };
  [[nodiscard]] Found find(const Key& key);

  // That of the very command beside its class's; null: there is none, or its class, which has more
  // attempts, is the surer of the two.
  struct FoundCommand {
    ClassPast* past = nullptr;
    ClassPast* of_class = nullptr;
  };
  [[nodiscard]] FoundCommand find_command(const Key& key);
  // What the command writes, or its class if that agrees with it and is surer; absent: neither has
  // told.
  [[nodiscard]] std::optional<Belief> written(const Key& key);

  // What to believe without a past of the class, and on what that rests.
  struct Unseen {
    Prior prior;
    Basis basis{};
    std::uint32_t attempts = 0;
    double shown = 0;  // so many attempts are what running ones of the class have shown worth
  };
  [[nodiscard]] Unseen unseen(const Key& key, const JobFacts& facts) const;
  // Estimate::told_most; of a job that is expected to come to `expected`, or has come to `reached`.
  [[nodiscard]] std::optional<double> told_most(const JobFacts& facts, const Belief& expected,
                                                Bytes reached) const;

  [[nodiscard]] std::size_t classes() const { return classes_.size(); }
  [[nodiscard]] bool is_shown_something() const { return !shows_.empty(); }

 private:
  [[nodiscard]] Belief bounded(const Belief& peak) const;

  Pasts<std::string> classes_, tools_;
  Pasts<std::uint64_t> commands_;
  PastAttempt all_{kRunsMax};
  HintTrust hints_;
  std::unordered_map<std::string, Shows> shows_;  // by class, of those of which some run
  std::optional<double> line_;                    // bytes
};

// So many classes and so many tools are remembered; beyond, the one that was longest without news
// goes.
inline constexpr std::size_t kClassesMax = 10'000;
// Likewise commands, at 2 kB each.
inline constexpr std::size_t kCommandsMax = 10'000;
// The same of an owner beside whoever keeps the past; and so many of those.
inline constexpr std::size_t kClassesOfOwnerMax = 1000;
inline constexpr std::size_t kCommandsOfOwnerMax = 1000;
inline constexpr std::size_t kOwnersMax = 100;

// Learns from attempts that are over and tells what others will need.
//
// What is known of each owner is known of his jobs alone: neither his classes nor what all of his
// commands have in common says anything of another's.
//
// Pure and deterministic: its state is a function of the attempt summaries in the order in which
// they came, of which only the last kRunsMax of each class matter, and of each command the last
// kRunsOfCommandMax that ended by themselves. So whoever stores those and feeds them back in order
// has it again. Not for several threads, not even to ask: summaries are made when first needed.
class Estimator {
 public:
  Estimator() = default;
  Estimator(Estimator&&) = default;
  Estimator& operator=(Estimator&&) = default;
  ~Estimator() = default;

  // O(log n); the summary of its class is made anew when somebody asks for it.
  void learn(const AttemptSummary& attempt_summary);

  // A running attempt of this key shows `now`, in place of `before`: others of its class are
  // believed to be like it while none has ended. Showing{} where there is none (yet, any more).
  // O(1).
  void show(const Key& key, const Showing& before, const Showing& now);

  // Jobs are run below this line: of one of which nothing is known no more is believed than that
  // a few of them fit below it side by side.
  void expect_below(Bytes line);

  // Of a job that has not started. Well under 1 us while its class learns nothing new.
  [[nodiscard]] Estimate estimate(const Key& key, const JobFacts& facts) const;

  // Of a running attempt, by what it has shown: a few us.
  [[nodiscard]] Estimate estimate(const Key& key, const JobFacts& facts,
                                  const LiveProfile& live_profile) const;

  // What sets jobs of a class apart, as far as is known: that the very command has ended by itself
  // before; and the numbers of its arguments that explain what such commands take, as bits, the
  // first number the lowest.
  [[nodiscard]] bool knows_command(const Key& key) const;
  [[nodiscard]] std::uint32_t telling_numbers(const Key& key) const;

  [[nodiscard]] std::size_t classes_known() const;

 private:
  struct Other {
    OwnerPast past{kClassesOfOwnerMax, kCommandsOfOwnerMax};
    std::uint64_t asked = 0;
  };
  [[nodiscard]] OwnerPast& of(const std::optional<std::uint32_t>& owner) const;
  void drop_one() const;

  // Whoever is only asked of is there as well, and summaries are made for the asking.
  //
  // Invariant: at most kOwnersMax besides the keeper of the past, and besides those of whom jobs
  // run.
  mutable OwnerPast own_{kClassesMax, kCommandsMax};
  mutable std::map<std::uint32_t, Other> others_;
  mutable std::uint64_t asked_ = 0;
  std::optional<Bytes> line_;
};

}  // namespace plimsoll::policy

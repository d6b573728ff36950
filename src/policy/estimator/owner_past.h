#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "policy/estimator/class_past.h"
#include "policy/estimator/estimate.h"
#include "policy/estimator/hint_trust.h"
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

  // What to believe without a past of the class, and on what that rests.
  struct Unseen {
    Prior prior;
    Basis basis{};
    std::uint32_t attempts = 0;
    double shown = 0;  // so many attempts are what running ones of the class have shown worth
  };
  [[nodiscard]] Unseen unseen(const Key& key, const JobFacts& facts) const;

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

}  // namespace plimsoll::policy

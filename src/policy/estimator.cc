#include "policy/estimator.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "policy/class_past.h"
#include "policy/forecast.h"
#include "policy/guess.h"
#include "policy/hint_trust.h"
#include "policy/prior.h"
#include "policy/record.h"

namespace plimsoll::policy {
namespace {

// What a guess is worth beside a record: so many attempts. The past of a tool is that of other work
// and is worth less.
constexpr double kGuessRuns = 1;
constexpr double kGuessRunsOfTool = 4;
// The likelihood of any track under a guess, beside that of forecast(): its bounds are ten times as
// wide in both of the figures that are compared.
constexpr double kGuessLikelihood = 0.01;
// What an evicted attempt had reached, the next one reaches too, and more. A guess.
constexpr double kBeyondReached = 1.25;
// How far a user's word on cores is off, as a share.
constexpr double kCoresHintSpread = 0.5;
// From so many attempts on, of whatever, their mean says more than a constant.
constexpr std::uint32_t kGlobalMin = 5;
// How far the next command is from the mean of all, as a share of it.
constexpr double kGlobalDoubt = 1;

Belief blend(const Belief& a, double share, const Belief& b) {
  const double mean = share * a.mean + (1 - share) * b.mean;
  const double square = share * (a.spread * a.spread + a.mean * a.mean) +
                        (1 - share) * (b.spread * b.spread + b.mean * b.mean);
  return {mean, std::sqrt(std::max(0.0, square - mean * mean))};
}

// `share` of `a`, the rest of `b`; basis and count as of `a`.
Estimate blend(const Estimate& a, double share, const Estimate& b) {
  Estimate blended = a;
  blended.peak = blend(a.peak, share, b.peak);
  blended.cores = blend(a.cores, share, b.cores);
  blended.remaining = blend(a.remaining, share, b.remaining);
  for (std::size_t i = 0; i < kHorizons.size(); ++i) {
    blended.ahead[i] = blend(a.ahead[i], share, b.ahead[i]);
    blended.survival[i] = share * a.survival[i] + (1 - share) * b.survival[i];
  }
  return blended;
}

// An earlier attempt of the same job proves that it needs more than it had reached.
void raise(Estimate& estimate, Bytes reached) {
  const double least = to_double(reached) * kBeyondReached;
  if (estimate.peak.mean >= least) return;
  const double factor = estimate.peak.mean > 0 ? least / estimate.peak.mean : 1;
  estimate.peak = {least, std::max(estimate.peak.spread, least - to_double(reached))};
  for (std::size_t i = 1; i < kHorizons.size(); ++i) {
    Belief& ahead = estimate.ahead[i];
    ahead = {ahead.mean * factor, ahead.spread * factor};
  }
}

}  // namespace

class Estimator::State {
 public:
  void learn(const Experience& experience) {
    ++learned_;
    const auto known = classes_.find(experience.key.exact);
    const bool is_first = known == classes_.end();
    if (is_first && experience.memory_hint && experience.memory_hint->count > 0 &&
        experience.peak_seen == Seen::whole) {
      hints_.learn(*experience.memory_hint, experience.peak);
    }
    learn(classes_, experience.key.exact, experience);
    if (!experience.key.tool.empty()) learn(tools_, experience.key.tool, experience);
    all_.learn(experience);
  }

  // The narrowest past that tells something of the key, and what it is called; null: there is none.
  struct Found {
    ClassPast* past = nullptr;
    Basis basis{};
  };
  Found find(const Key& key) {
    if (const auto found = classes_.find(key.exact); found != classes_.end()) {
      return {&found->second.past, Basis::exact};
    }
    if (const auto found = tools_.find(key.tool); found != tools_.end()) {
      return {&found->second.past, Basis::tool};
    }
    return {};
  }

  // What to believe without a past of the class, and on what that rests.
  struct Unseen {
    Prior prior;
    Basis basis{};
    std::uint32_t attempts = 0;
  };
  [[nodiscard]] Unseen unseen(const Key& key, const JobFacts& facts) const {
    const auto known = prior_of(key.tool);
    Unseen unseen{.prior = known.value_or(unknown_prior()), .basis = Basis::prior};
    if (facts.memory_hint && facts.memory_hint->count > 0) {
      unseen.prior.peak = hints_.expect(*facts.memory_hint);
      unseen.basis = Basis::hint;
    } else if (!known && all_.attempts() >= kGlobalMin) {
      unseen.prior.peak = believe(peaks_of(all_), kGlobalDoubt);
      unseen.prior.peak.spread = std::max(unseen.prior.peak.spread, unseen.prior.peak.mean);
      unseen.basis = Basis::global;
      unseen.attempts = all_.attempts();
    }
    if (facts.cpu_hint) unseen.prior.cores = {*facts.cpu_hint, *facts.cpu_hint * kCoresHintSpread};
    return unseen;
  }

  [[nodiscard]] std::size_t classes() const { return classes_.size(); }

 private:
  struct Entry {
    ClassPast past;
    std::uint64_t learned_at = 0;
  };
  using Entries = std::unordered_map<std::string, Entry>;

  void learn(Entries& entries, const std::string& name, const Experience& experience) {
    if (entries.size() >= kClassesMax && !entries.contains(name)) {
      const auto older = [](const auto& a, const auto& b) {
        return a.second.learned_at < b.second.learned_at;
      };
      entries.erase(std::min_element(entries.begin(), entries.end(), older));
    }
    Entry& entry = entries[name];
    entry.past.learn(experience);
    entry.learned_at = learned_;
  }

  Entries classes_;
  Entries tools_;
  Record all_;
  HintTrust hints_;
  std::uint64_t learned_ = 0;
};

Estimator::Estimator() : state_(std::make_unique<State>()) {}
Estimator::~Estimator() = default;
Estimator::Estimator(Estimator&&) noexcept = default;
Estimator& Estimator::operator=(Estimator&&) noexcept = default;

void Estimator::learn(const Experience& experience) { state_->learn(experience); }

Estimate Estimator::estimate(const Key& key, const JobFacts& facts) const {
  const auto [past, basis] = state_->find(key);
  Estimate result;
  if (past != nullptr && basis == Basis::exact) {
    result = past->unstarted(facts.input);
  } else {
    const auto unseen = state_->unseen(key, facts);
    result = guess(unseen.prior);
    result.basis = unseen.basis;
    result.attempts_known = unseen.attempts;
    // What the user says of this very job is worth more than what others did with the tool.
    if (past != nullptr && unseen.basis != Basis::hint) {
      const double runs = past->runs();
      result = blend(past->unstarted(facts.input), runs / (runs + kGuessRunsOfTool), result);
    }
  }
  if (past != nullptr && result.basis != Basis::hint) {
    result.basis = basis;
    result.attempts_known = past->attempts();
  }
  if (facts.reached) raise(result, *facts.reached);
  return result;
}

Estimate Estimator::estimate(const Key& key, const JobFacts& facts, const Track& track) const {
  if (!track.has_samples()) return estimate(key, facts);
  // What was believed before it started is the prior of a guess, whatever that rested on.
  const Estimate before = estimate(
      key, {.memory_hint = facts.memory_hint, .cpu_hint = facts.cpu_hint, .input = facts.input});
  Estimate result = guess({before.peak, before.cores, before.remaining}, track);
  result.basis = before.basis;
  result.attempts_known = before.attempts_known;
  if (const auto [past, basis] = state_->find(key); past != nullptr && before.basis == basis) {
    const Forecast seen = past->running(facts.input, track);
    const double known = past->runs() * seen.likelihood;
    const double worth = basis == Basis::exact ? kGuessRuns : kGuessRunsOfTool;
    if (known > 0)
      result = blend(seen.estimate, known / (known + worth * kGuessLikelihood), result);
    result.basis = basis;
    result.attempts_known = before.attempts_known;
  }
  if (facts.reached && track.peak() < *facts.reached) raise(result, *facts.reached);
  return result;
}

std::size_t Estimator::classes_known() const { return state_->classes(); }

}  // namespace plimsoll::policy

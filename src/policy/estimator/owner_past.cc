#include "policy/estimator/owner_past.h"

#include <algorithm>

namespace plimsoll::policy {
namespace {

// How far a user's word on cores is off, as a share.
constexpr double kCoresHintSpread = 0.5;
// From so many attempts on, of whatever, their mean says more than a constant.
constexpr std::uint32_t kGlobalMin = 5;
// What of a job's share of the line is believed, and doubted, where nothing is known: together not
// all of it, as some of the line is left free.
constexpr double kUnknownMean = 0.5;
constexpr double kUnknownSpread = 0.4;
// How far the next command is from the mean of all, as a share of it.
constexpr double kGlobalDoubt = 1;
// How far a single attempt of a class, or of the very command, may mislead, as a share. Guesses:
// the same command on other data is the bad case of the second.
constexpr PastDepth kDepthOfClass{.runs = kRunsMax, .doubt = 0.3};
constexpr PastDepth kDepthOfCommand{.runs = kRunsOfCommandMax, .doubt = 0.15};

}  // namespace

OwnerPast::OwnerPast(std::size_t classes_max, std::size_t commands_max)
    : classes_{classes_max, kDepthOfClass},
      tools_{classes_max, kDepthOfClass},
      commands_{commands_max, kDepthOfCommand} {}

void OwnerPast::learn(const AttemptSummary& attempt_summary) {
  const Key& key = attempt_summary.key;
  const bool is_whole =
      attempt_summary.peak_seen == Seen::whole && attempt_summary.ran_seen == Seen::whole;
  if (classes_.find(key.exact) == nullptr && attempt_summary.memory_hint &&
      attempt_summary.memory_hint->count > 0 && attempt_summary.peak_seen == Seen::whole) {
    hints_.learn(*attempt_summary.memory_hint, attempt_summary.peak);
  }
  classes_.learn(key.exact, attempt_summary);
  if (!key.tool.empty()) tools_.learn(key.tool, attempt_summary);
  // One that was cut off says less of it than its class does.
  if (key.command != 0 && is_whole) commands_.learn(key.command, attempt_summary);
  all_.learn(attempt_summary);
}

void OwnerPast::show(const Key& key, const Showing& before, const Showing& now) {
  Shows& shows = shows_[key.exact];
  shows.replace(before, now);
  if (shows.is_empty()) shows_.erase(key.exact);
}

OwnerPast::Found OwnerPast::find(const Key& key) {
  if (ClassPast* found = classes_.find(key.exact)) return {found, Basis::exact};
  if (ClassPast* found = tools_.find(key.tool)) return {found, Basis::tool};
  return {};
}

OwnerPast::FoundCommand OwnerPast::find_command(const Key& key) {
  if (key.command == 0) return {};
  ClassPast* past = commands_.find(key.command);
  ClassPast* of_class = past != nullptr ? classes_.find(key.exact) : nullptr;
  if (of_class == nullptr) return {};
  const double doubt = past->unstarted({}).peak.spread;
  if (doubt > of_class->unstarted({}).peak.spread) return {};
  return {past, of_class};
}

// Half of its share of the line, and nearly as much for doubt.
Belief OwnerPast::bounded(const Belief& peak) const {
  const double share = *line_ / kUnknownBeside;
  return {std::min(peak.mean, share * kUnknownMean), std::min(peak.spread, share * kUnknownSpread)};
}

OwnerPast::Unseen OwnerPast::unseen(const Key& key, const JobFacts& facts) const {
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
  if (unseen.basis != Basis::hint && line_) unseen.prior.peak = bounded(unseen.prior.peak);
  if (facts.cpu_hint) unseen.prior.cores = {*facts.cpu_hint, *facts.cpu_hint * kCoresHintSpread};
  if (const auto shown = shows_.find(key.exact); shown != shows_.end()) {
    unseen.prior = shown->second.correct(unseen.prior);
    unseen.shown = shown->second.weight();
  }
  return unseen;
}

}  // namespace plimsoll::policy

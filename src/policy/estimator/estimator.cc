#include "policy/estimator/estimator.h"

#include <algorithm>
#include <cmath>

#include "policy/estimator/demand_forecast.h"
#include "policy/estimator/forecast.h"
#include "policy/estimator/prior.h"

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

// What a guess is worth beside a record: so many attempts. The past of a tool is that of other work
// and is worth less.
constexpr double kGuessRuns = 1;
constexpr double kGuessRunsOfTool = 4;
// The likelihood of any track under a guess, beside that of forecast(): its bounds are ten times as
// wide in both of the figures that are compared.
constexpr double kGuessLikelihood = 0.01;
// What an evicted attempt had reached, the next one reaches too, and more. A guess.
constexpr double kBeyondReached = 1.25;
// Where the past of the command tells so much of a running attempt, its class is not asked too.
constexpr double kTellsEnough = 0.9;

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
    blended.swing[i] = share * a.swing[i] + (1 - share) * b.swing[i];
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
    estimate.swing[i] *= factor;
  }
}

Belief below(const Belief& belief, double most) {
  const double mean = std::min(belief.mean, most);
  return {mean, std::min(belief.spread, most - mean)};
}

// What a job is not let have it can't need; `used` is what it has all the same.
void keep_within_limits(Estimate& estimate, const JobFacts& facts, Bytes used) {
  if (facts.memory_max) {
    const double most = to_double(std::max(*facts.memory_max, used));
    estimate.peak = below(estimate.peak, most);
    for (std::size_t i = 0; i < kHorizons.size(); ++i) {
      estimate.ahead[i] = below(estimate.ahead[i], most);
      estimate.swing[i] = std::min(estimate.swing[i], most - estimate.ahead[i].mean);
    }
  }
  if (facts.cpus) estimate.cores = below(estimate.cores, *facts.cpus);
}

// Of a running attempt. What it shows may tell that it is one of the big ones of its kind.
std::optional<Belief> ceiling_of(const Estimate& before, const Estimate& now,
                                 const LiveProfile& live_profile) {
  if (!before.ceiling) return std::nullopt;
  const Belief& most = *before.ceiling;
  const double reached = to_double(live_profile.peak());
  if (reached > most.mean + most.spread) return std::nullopt;
  return Belief{std::max({most.mean, now.peak.mean, reached}), most.spread};
}

void tell_written(Estimate& estimate, const JobFacts& facts) {
  if (!facts.disk_hint) return;
  estimate.written = Belief{to_double(*facts.disk_hint), 0};
  estimate.is_written_told = true;
}

Sizes sizes_of(const JobFacts& facts) {
  return {.input = facts.input ? std::optional(to_double(*facts.input)) : std::nullopt,
          .numbers = facts.numbers};
}

// As bits of numbers; none for the input.
std::uint32_t number_bit(const std::optional<Trend>& trend) {
  return trend && trend->size != Sizes::kInput ? 1U << (trend->size - 1) : 0U;
}

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

std::optional<Belief> OwnerPast::written(const Key& key) {
  ClassPast* of_class = classes_.find(key.exact);
  if (of_class == nullptr) return std::nullopt;
  ClassPast* of_command = key.command != 0 ? commands_.find(key.command) : nullptr;
  const std::optional<Belief> all = of_class->written();
  const std::optional<Belief> own = of_command != nullptr ? of_command->written() : std::nullopt;
  if (!own || !all) return own ? own : all;
  const bool agree = std::abs(own->mean - all->mean) <= own->spread;
  return agree && all->spread < own->spread ? all : own;
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

// What other attempts needed counts beside the hint, whichever is more.
std::optional<double> OwnerPast::told_most(const JobFacts& facts, const Belief& expected,
                                           Bytes reached) const {
  std::optional<double> most;
  if (facts.memory_hint && facts.memory_hint->count > 0) {
    const Belief hint = hints_.expect(*facts.memory_hint);
    most = std::max(hint.mean + hint.spread, expected.mean + expected.spread);
    if (to_double(reached) > *most) most.reset();
  }
  if (!facts.memory_max) return most;
  const double limit = to_double(std::max(*facts.memory_max, reached));
  return std::min(most.value_or(limit), limit);
}

// Made when it is first asked for; then the one that was longest without a question may go.
OwnerPast& Estimator::of(const std::optional<std::uint32_t>& owner) const {
  if (!owner) return own_;
  const auto [place, is_new] = others_.try_emplace(*owner);
  Other& other = place->second;
  other.asked = ++asked_;
  if (!is_new) return other.past;
  if (line_) other.past.expect_below(*line_);
  if (others_.size() > kOwnersMax) drop_one();
  return other.past;
}

// What running jobs have shown is taken back when they end.
void Estimator::drop_one() const {
  auto oldest = others_.end();
  for (auto it = others_.begin(); it != others_.end(); ++it) {
    if (it->second.asked == asked_ || it->second.past.is_shown_something()) continue;
    if (oldest == others_.end() || it->second.asked < oldest->second.asked) oldest = it;
  }
  if (oldest != others_.end()) others_.erase(oldest);
}

void Estimator::learn(const AttemptSummary& attempt_summary) {
  of(attempt_summary.key.owner).learn(attempt_summary);
}

void Estimator::show(const Key& key, const Showing& before, const Showing& now) {
  of(key.owner).show(key, before, now);
}

void Estimator::expect_below(Bytes line) {
  line_ = line;
  own_.expect_below(line);
  for (auto& [owner, other] : others_) other.past.expect_below(line);
}

Estimate Estimator::estimate(const Key& key, const JobFacts& facts) const {
  OwnerPast& owner = of(key.owner);
  const Sizes sizes = sizes_of(facts);
  const auto [past, basis] = owner.find(key);
  const auto command = owner.find_command(key);
  Estimate result;
  if (command.past != nullptr) {
    result = command.past->unstarted(sizes, command.of_class->trends());
  } else if (past != nullptr && basis == Basis::exact) {
    result = past->unstarted(sizes);
  } else {
    const auto unseen = owner.unseen(key, facts);
    result = guess(unseen.prior);
    result.basis = unseen.basis;
    result.attempts_known = unseen.attempts;
    // What the user says of this very job is worth more than what others did with the tool.
    if (past != nullptr && unseen.basis != Basis::hint) {
      const double runs = past->runs();
      const double share = runs / (runs + kGuessRunsOfTool * (1 + unseen.shown));
      result = blend(past->unstarted(sizes), share, result);
    }
  }
  if (const auto written = owner.written(key)) result.written = written;
  if (past != nullptr && result.basis != Basis::hint) {
    result.basis = basis;
    result.attempts_known = past->attempts();
  }
  const Bytes reached = facts.reached.value_or(Bytes{});
  result.told_most = owner.told_most(facts, result.peak, reached);
  if (facts.reached) raise(result, reached);
  keep_within_limits(result, facts, Bytes{});
  tell_written(result, facts);
  if (is_known(result)) result.ceiling = result.peak;
  return result;
}

Estimate Estimator::estimate(const Key& key, const JobFacts& facts,
                             const LiveProfile& live_profile) const {
  if (!live_profile.has_samples()) return estimate(key, facts);
  OwnerPast& owner = of(key.owner);
  // What was believed before it started is the prior of a guess, whatever that rested on.
  JobFacts at_first = facts;
  at_first.reached.reset();
  const Estimate before = estimate(key, at_first);
  const Sizes sizes = sizes_of(facts);
  Estimate result =
      guess({before.peak, before.cores, before.remaining, before.told_most}, live_profile);
  // A forecast counts by the attempts that it rests on and by how well they explain this one,
  // beside a guess that is worth so many.
  const auto share_of = [](const Forecast& seen, const ClassPast& past, double worth) {
    const double known = past.runs() * seen.likelihood;
    return known > 0 ? known / (known + worth * kGuessLikelihood) : 0;
  };
  const auto command = owner.find_command(key);
  Forecast own;
  double own_share = 0;
  if (command.past != nullptr) {
    own = command.past->running(sizes, command.of_class->trends(), live_profile);
    own_share = share_of(own, *command.past, kGuessRuns);
  }
  const auto [past, basis] = owner.find(key);
  if (past != nullptr && before.basis == basis && own_share < kTellsEnough) {
    const Forecast seen = past->running(sizes, live_profile);
    const double share =
        share_of(seen, *past, basis == Basis::exact ? kGuessRuns : kGuessRunsOfTool);
    if (share > 0) result = blend(seen.estimate, share, result);
  }
  if (own_share > 0) result = blend(own.estimate, own_share, result);
  result.basis = before.basis;
  result.attempts_known = before.attempts_known;
  result.written = before.written;
  result.is_written_told = before.is_written_told;
  result.io = before.io;
  if (facts.reached && live_profile.peak() < *facts.reached) raise(result, *facts.reached);
  keep_within_limits(result, facts, live_profile.used());
  result.ceiling = ceiling_of(before, result, live_profile);
  const Bytes reached = std::max(live_profile.peak(), facts.reached.value_or(Bytes{}));
  result.told_most = owner.told_most(facts, before.peak, reached);
  return result;
}

bool Estimator::knows_command(const Key& key) const {
  return of(key.owner).find_command(key).past != nullptr;
}

std::uint32_t Estimator::telling_numbers(const Key& key) const {
  const auto [past, basis] = of(key.owner).find(key);
  if (past == nullptr || basis != Basis::exact) return 0;
  const Trends& trends = past->trends();
  return number_bit(trends.peak) | number_bit(trends.seconds);
}

std::size_t Estimator::classes_known() const {
  std::size_t sum = own_.classes();
  for (const auto& [owner, other] : others_) sum += other.past.classes();
  return sum;
}

}  // namespace plimsoll::policy

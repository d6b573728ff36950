#include "policy/scheduler/kinds.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace plimsoll::policy {
namespace {

std::optional<double> number_of(std::optional<Bytes> bytes) {
  if (!bytes) return std::nullopt;
  return static_cast<double>(bytes->count);
}

// On a scale of so many steps for each doubling.
double step_of(double value, double steps) {
  constexpr double kLeast = 0.01;  // a hundredth of a second; less than a byte
  return std::round(std::log2(std::max(value, kLeast)) * steps);
}

}  // namespace

Kinds::Name Kinds::name_of(const Entry& entry, const Estimator& estimator) {
  const JobFacts& facts = entry.facts;
  Facts figures{number_of(facts.memory_hint),
                facts.cpu_hint,
                number_of(facts.disk_hint),
                number_of(facts.reached),
                number_of(facts.memory_max),
                facts.cpus,
                number_of(facts.input),
                std::nullopt,
                std::nullopt};
  if (entry.key.command != 0 || !facts.numbers.empty()) {
    const Estimate estimate = estimator.estimate(entry.key, facts);
    figures = {figures[0],
               figures[1],
               figures[2],
               figures[3],
               figures[4],
               figures[5],
               std::nullopt,
               step_of(estimate.peak.mean, kPeakSteps),
               step_of(estimate.remaining.mean, kTimeSteps)};
  }
  return {entry.tenant, entry.key.owner, entry.key.exact, entry.key.tool, std::move(figures)};
}

Kind Kinds::take(const Key& key, const JobFacts& facts, const Estimator& estimator, Tenant tenant) {
  Entry wanted{.key = key, .facts = facts, .tenant = tenant};
  if (!estimator.knows_command(key)) wanted.key.command = 0;
  if (wanted.key.command != 0 || estimator.telling_numbers(key) == 0) wanted.facts.numbers.clear();
  Name name = name_of(wanted, estimator);
  const auto [place, is_new] = numbers_.try_emplace(name, next_);
  const Kind kind = place->second;
  if (is_new) {
    next_ = static_cast<Kind>(static_cast<std::uint32_t>(next_) + 1);
    entries_.emplace(kind, std::move(wanted));
    names_.emplace(kind, std::move(name));
    by_tool_[key.tool].push_back(kind);
    stale_.insert(kind);
  }
  Entry& known = entry(kind);
  if (known.jobs++ == 0) idle_.erase({known.idle_since, kind});
  return kind;
}

void Kinds::give_back(Kind kind, Governor& governor) {
  Entry& known = entry(kind);
  if (--known.jobs > 0) return;
  known.idle_since = ++last_idle_;
  idle_.insert({known.idle_since, kind});
  if (idle_.size() <= kIdleKindsMax) return;
  const Kind oldest = idle_.begin()->second;
  idle_.erase(idle_.begin());
  governor.forget(oldest);
  forget(oldest);
}

void Kinds::forget(Kind kind) {
  const auto known = entries_.extract(kind);
  const Entry& gone = known.mapped();
  numbers_.erase(names_.extract(kind).mapped());
  stale_.erase(kind);
  const auto tool = by_tool_.find(gone.key.tool);
  std::erase(tool->second, kind);
  if (tool->second.empty()) by_tool_.erase(tool);
}

const Kinds::Entry& Kinds::at(Kind kind) const {
  const auto found = entries_.find(kind);
  PLIMSOLL_CHECK(found != entries_.end());
  return found->second;
}

void Kinds::add_waiting(Kind kind) {
  Entry& known = entry(kind);
  if (known.waiting++ == 0 && known.estimated != news_) stale_.insert(kind);
}

bool Kinds::learnt(const Key& key, const Estimator& estimator) {
  ++news_;
  // What is learnt of one tool says a little about those of which nothing is known: they take
  // turns.
  if (!entries_.empty()) {
    auto turn = entries_.upper_bound(round_);
    if (turn == entries_.end()) turn = entries_.begin();
    round_ = turn->first;
    if (turn->second.waiting > 0) stale_.insert(round_);
  }
  if (const auto found = by_tool_.find(key.tool); found != by_tool_.end()) {
    for (const Kind kind : found->second) {
      const Entry& known = at(kind);
      if (known.waiting > 0 && known.key.owner == key.owner) stale_.insert(kind);
    }
  }
  // Forgotten, it is told once more than needed.
  if (telling_.size() > kIdleKindsMax) telling_.clear();
  Telling& telling = telling_[{key.owner, key.exact}];
  ++telling.learnt;
  const std::uint32_t numbers = estimator.telling_numbers(key);
  // A number that fits as closely as it has to, now and then, would have all of them taken each
  // time: at most each time that twice as much is known.
  if (numbers == telling.numbers || telling.learnt < 2 * telling.learnt_then) return false;
  telling.numbers = numbers;
  telling.learnt_then = telling.learnt;
  return true;
}

void Kinds::shown(const Key& key) {
  ++news_;
  const auto found = by_tool_.find(key.tool);
  if (found == by_tool_.end()) return;
  for (const Kind kind : found->second) {
    const Entry& known = at(kind);
    const bool is_of_class = known.key.exact == key.exact && known.key.owner == key.owner;
    if (known.waiting > 0 && is_of_class) stale_.insert(kind);
  }
}

void Kinds::tell(Kind kind, const Estimator& estimator, Governor& governor) {
  Entry& known = entry(kind);
  known.estimated = news_;
  governor.expect(kind, estimator.estimate(known.key, known.facts));
}

void Kinds::refresh_now(Kind kind, const Estimator& estimator, Governor& governor) {
  if (stale_.erase(kind) > 0) tell(kind, estimator, governor);
}

bool Kinds::refresh(const Estimator& estimator, Governor& governor) {
  std::size_t done = 0;
  while (!stale_.empty() && done < kRefreshedMax) {
    const Kind kind = *stale_.begin();
    stale_.erase(stale_.begin());
    tell(kind, estimator, governor);
    ++done;
  }
  return !stale_.empty();
}

}  // namespace plimsoll::policy

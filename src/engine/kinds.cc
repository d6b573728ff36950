#include "engine/kinds.h"

#include <algorithm>

#include "base/check.h"

namespace plimsoll::engine {
namespace {

std::optional<double> number_of(std::optional<Bytes> bytes) {
  if (!bytes) return std::nullopt;
  return static_cast<double>(bytes->count);
}

}  // namespace

Kinds::Name Kinds::name_of(const policy::Key& key, const policy::JobFacts& facts) {
  return {{key.exact, key.tool},
          {number_of(facts.memory_hint), facts.cpu_hint, number_of(facts.input),
           number_of(facts.reached)}};
}

policy::Kind Kinds::take(const policy::Key& key, const policy::JobFacts& facts) {
  const auto [place, is_new] = numbers_.try_emplace(name_of(key, facts), next_);
  const policy::Kind kind = place->second;
  if (is_new) {
    next_ = static_cast<policy::Kind>(static_cast<std::uint32_t>(next_) + 1);
    entries_.emplace(kind, Entry{.key = key, .facts = facts});
    by_tool_[key.tool].push_back(kind);
    stale_.insert(kind);
  }
  Entry& known = entry(kind);
  if (known.jobs++ == 0) idle_.erase({known.idle_since, kind});
  return kind;
}

void Kinds::give_back(policy::Kind kind, policy::Governor& governor) {
  Entry& known = entry(kind);
  if (--known.jobs > 0) return;
  known.idle_since = ++last_idle_;
  idle_.insert({known.idle_since, kind});
  if (idle_.size() <= kIdleKindsMax) return;
  const policy::Kind oldest = idle_.begin()->second;
  idle_.erase(idle_.begin());
  governor.forget(oldest);
  forget(oldest);
}

void Kinds::forget(policy::Kind kind) {
  const auto known = entries_.extract(kind);
  const Entry& gone = known.mapped();
  numbers_.erase(name_of(gone.key, gone.facts));
  stale_.erase(kind);
  const auto tool = by_tool_.find(gone.key.tool);
  std::erase(tool->second, kind);
  if (tool->second.empty()) by_tool_.erase(tool);
}

const Kinds::Entry& Kinds::at(policy::Kind kind) const {
  const auto found = entries_.find(kind);
  PLIMSOLL_CHECK(found != entries_.end());
  return found->second;
}

void Kinds::learnt(const policy::Key& key) {
  // What is learnt of one tool says a little about those of which nothing is known: they take
  // turns.
  if (!entries_.empty()) {
    auto turn = entries_.upper_bound(round_);
    if (turn == entries_.end()) turn = entries_.begin();
    round_ = turn->first;
    if (turn->second.waiting > 0) stale_.insert(round_);
  }
  const auto found = by_tool_.find(key.tool);
  if (found == by_tool_.end()) return;
  for (const policy::Kind kind : found->second) {
    if (at(kind).waiting > 0) stale_.insert(kind);
  }
}

void Kinds::refresh_now(policy::Kind kind, const policy::Estimator& estimator,
                        policy::Governor& governor) {
  if (stale_.erase(kind) == 0) return;
  governor.expect(kind, estimator.estimate(at(kind).key, at(kind).facts));
}

bool Kinds::refresh(const policy::Estimator& estimator, policy::Governor& governor) {
  std::size_t done = 0;
  while (!stale_.empty() && done < kRefreshedMax) {
    const policy::Kind kind = *stale_.begin();
    stale_.erase(stale_.begin());
    governor.expect(kind, estimator.estimate(at(kind).key, at(kind).facts));
    ++done;
  }
  return !stale_.empty();
}

}  // namespace plimsoll::engine

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

policy::Kind Kinds::number(const policy::Key& key, const policy::JobFacts& facts) {
  const Facts comparable{number_of(facts.memory_hint), facts.cpu_hint, number_of(facts.input),
                         number_of(facts.reached)};
  const auto next = static_cast<policy::Kind>(entries_.size());
  const auto [place, is_new] = numbers_.try_emplace({{key.exact, key.tool}, comparable}, next);
  if (is_new) {
    entries_.push_back({.key = key, .facts = facts});
    by_tool_[key.tool].push_back(next);
    stale_.insert(next);
  }
  return place->second;
}

const Kinds::Entry& Kinds::at(policy::Kind kind) const {
  PLIMSOLL_CHECK(static_cast<std::size_t>(kind) < entries_.size());
  return entries_[static_cast<std::size_t>(kind)];
}

void Kinds::learnt(const policy::Key& key) {
  // What is learnt of one tool says a little about those of which nothing is known: they take
  // turns.
  round_ = (round_ + 1) % std::max<std::size_t>(entries_.size(), 1);
  if (!entries_.empty() && entries_[round_].waiting > 0) {
    stale_.insert(static_cast<policy::Kind>(round_));
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

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>

#include "policy/estimator/class_past.h"

namespace plimsoll::policy {

// Pasts by name, `names_max` at most: beyond, the one that was longest without news goes.
//
// Invariant: by_news_ has each of entries_ once.
template <class Name>
class Pasts {
 public:
  Pasts(std::size_t names_max, const PastDepth& depth) : names_max_(names_max), depth_(depth) {}

  // O(log n). References to the pasts of other names stay valid, but for the one that goes.
  void learn(const Name& name, const AttemptSummary& attempt_summary) {
    const auto [place, is_new] = entries_.try_emplace(name, depth_);
    Entry& entry = place->second;
    if (!is_new) by_news_.erase(entry.news);
    entry.news = ++news_;
    by_news_.emplace(entry.news, &place->first);
    entry.past.learn(attempt_summary);
    if (entries_.size() <= names_max_) return;
    const auto oldest = by_news_.begin();
    entries_.erase(entries_.find(*oldest->second));
    by_news_.erase(oldest);
  }

  // Null: nothing is known of it.
  [[nodiscard]] ClassPast* find(const Name& name) {
    const auto found = entries_.find(name);
    return found != entries_.end() ? &found->second.past : nullptr;
  }

  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    explicit Entry(const PastDepth& depth) : past(depth) {}
    ClassPast past;
    std::uint64_t news = 0;  // its last
  };

  std::size_t names_max_;
  PastDepth depth_;
  std::unordered_map<Name, Entry> entries_;
  std::map<std::uint64_t, const Name*> by_news_;
  std::uint64_t news_ = 0;
};

}  // namespace plimsoll::policy

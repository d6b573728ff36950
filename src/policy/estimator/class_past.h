#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/units.h"
#include "policy/estimator/estimate.h"
#include "policy/estimator/forecast.h"
#include "policy/estimator/past_attempt.h"
#include "policy/estimator/trend.h"

namespace plimsoll::policy {

// How far users' words on memory can be trusted: the share of a hint that the first attempt of a
// class really used, over the classes that had one. Who asks for ten times too much for one class
// does so for the next.
class HintTrust {
 public:
  // Of the first attempt of a class that ended. Both above 0.
  void learn(Bytes hint, Bytes peak);

  // What an attempt with this hint is believed to use, while its class is not known.
  [[nodiscard]] Belief expect(Bytes hint) const;

 private:
  std::deque<double> shares_;  // peak / hint, oldest first
};

// Which sizes explain what jobs of a class take.
struct Trends {
  std::optional<Trend> peak;
  std::optional<Trend> seconds;
};

// How much of a past is looked at.
struct PastDepth {
  std::size_t runs = 0;  // at most
  double doubt = 0;      // how far a single attempt may mislead, as a share
};

// The past of a class, of a tool, or of a command, with what was worked out of it; worked out when
// first asked for after news.
class ClassPast {
 public:
  explicit ClassPast(const PastDepth& depth) : depth_(depth), record_(depth.runs) {}
  void learn(const AttemptSummary& attempt_summary);

  // Not before the first attempt is learnt. None sets the basis; where the past knows nothing of
  // cores, one is taken.
  [[nodiscard]] Estimate unstarted(const Sizes& sizes);
  [[nodiscard]] Forecast running(const Sizes& sizes, const LiveProfile& live_profile);
  [[nodiscard]] const Trends& trends() { return summary().trends; }
  // As of an estimate.
  [[nodiscard]] const std::optional<Belief>& written() { return summary().unstarted.written; }

  // The same of a command, whose own attempts are all of about one size: how it does with another
  // is seen from its class.
  [[nodiscard]] Estimate unstarted(const Sizes& sizes, const Trends& of_class);
  [[nodiscard]] Forecast running(const Sizes& sizes, const Trends& of_class,
                                 const LiveProfile& live_profile);

  // Attempts that are over, ever; and those of them that are remembered.
  [[nodiscard]] std::uint32_t attempts() const { return record_.attempts(); }
  [[nodiscard]] double runs() const { return static_cast<double>(record_.runs().size()); }

 private:
  // What is the same for all attempts to come.
  struct Summary {
    Trends trends;
    Estimate unstarted;
  };
  const Summary& summary();

  PastDepth depth_;
  PastAttempt record_;
  std::optional<Summary> summary_;  // absent: there is news
};

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

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "policy/estimator/estimator.h"
#include "policy/governor/governor.h"
#include "policy/job/tenant.h"

namespace plimsoll::policy {

// So many kinds are estimated anew in one turn at most, when something was learnt: the rest follow
// in the next turns.
inline constexpr std::size_t kRefreshedMax = 64;

// So many kinds are known that no job is of: enough for the classes of a long run that come again
// and again, and a few MB.
inline constexpr std::size_t kIdleKindsMax = 4096;

// Jobs of a class of which more is known than of the class (the very command has run before, or a
// number of its arguments tells) are of one kind if their estimates are about the same: peaks in
// steps of 19 %, times, which are less sure, of 41 %. So ten thousand commands of one class are a
// few dozen kinds.
inline constexpr double kPeakSteps = 4;  // for each doubling
inline constexpr double kTimeSteps = 2;

// Numbers the kinds of jobs (same user, class and tool, same facts as far as they tell), and keeps
// the governor's estimates of those that wait up to date with what the estimator learns.
class Kinds {
 public:
  struct Entry {
    Key key;         // as of its first job, without what told nothing then
    JobFacts facts;  // likewise
    Tenant tenant = kHost;
    std::size_t waiting = 0;
    std::size_t jobs = 0;        // waiting, running, or to run again
    std::uint64_t idle_since{};  // its place in idle_ while it has none
    std::uint64_t estimated{};   // what was known then, as news_
  };

  // The number of these jobs, for one more of them; new ones are numbered.
  Kind take(const Key& key, const JobFacts& facts, const Estimator& estimator,
            Tenant tenant = kHost);
  // One job is not of this kind any more, or is none. The governor forgets kinds that have been
  // without a job for the longest, beyond kIdleKindsMax.
  void give_back(Kind kind, Governor& governor);
  [[nodiscard]] const Entry& at(Kind kind) const;

  // Whatever was learnt while no job of the kind waited makes it out of date.
  void add_waiting(Kind kind);
  void remove_waiting(Kind kind) { --entry(kind).waiting; }

  // An attempt of this key was learnt: the kinds it says something about are to be refreshed.
  // Returns whether other numbers of arguments tell now than when jobs of its class were last put
  // into kinds: then they should be taken anew. That is rare.
  bool learnt(const Key& key, const Estimator& estimator);
  // Running attempts of this key have shown something: its kinds are to be refreshed.
  void shown(const Key& key);
  // Tells the governor what is believed now of some of the kinds that are out of date. Returns
  // whether any are left.
  bool refresh(const Estimator& estimator, Governor& governor);

  // The same of one kind, if it is out of date.
  void refresh_now(Kind kind, const Estimator& estimator, Governor& governor);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] const std::map<Kind, Entry>& entries() const { return entries_; }

 private:
  using Facts = std::vector<std::optional<double>>;  // all of JobFacts, comparable

  using Owner = std::optional<std::uint32_t>;
  using Name = std::tuple<Tenant, Owner, std::string, std::string, Facts>;

  // What tells jobs of a class apart, and since when.
  struct Telling {
    std::uint32_t numbers = 0;
    std::size_t learnt = 0, learnt_then = 0;
  };

  static Name name_of(const Entry& entry, const Estimator& estimator);
  Entry& entry(Kind kind) { return entries_.at(kind); }
  void tell(Kind kind, const Estimator& estimator, Governor& governor);
  void forget(Kind kind);

  std::map<Kind, Entry> entries_;
  Kind next_{};
  std::map<Name, Kind> numbers_;
  std::map<Kind, Name> names_;
  std::map<std::pair<Owner, std::string>, Telling> telling_;  // by class
  std::set<std::pair<std::uint64_t, Kind>> idle_;             // without jobs since, in order
  std::uint64_t last_idle_ = 0;
  std::map<std::string, std::vector<Kind>> by_tool_;
  std::set<Kind> stale_;
  std::uint64_t news_ = 0;  // how often something was learnt or shown
  Kind round_{};            // of all kinds, for what was learnt of others
};

}  // namespace plimsoll::policy

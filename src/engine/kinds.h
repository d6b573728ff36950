#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "policy/estimator.h"
#include "policy/governor.h"

namespace plimsoll::engine {

// So many kinds are estimated anew in one turn at most, when something was learnt: the rest follow
// in the next turns.
inline constexpr std::size_t kRefreshedMax = 64;

// So many kinds are known that no job is of: enough for the classes of a long run that come again
// and again, and a few MB.
inline constexpr std::size_t kIdleKindsMax = 4096;

// Numbers the kinds of jobs (same key, same facts), and keeps the governor's estimates of those
// that wait up to date with what the estimator learns.
class Kinds {
 public:
  struct Entry {
    policy::Key key;
    policy::JobFacts facts;
    std::size_t waiting = 0;
    std::size_t jobs = 0;        // waiting, running, or to run again
    std::uint64_t idle_since{};  // its place in idle_ while it has none
  };

  // The number of these jobs, for one more of them; new ones are numbered.
  policy::Kind take(const policy::Key& key, const policy::JobFacts& facts);
  // One job is not of this kind any more, or is none. The governor forgets kinds that have been
  // without a job for the longest, beyond kIdleKindsMax.
  void give_back(policy::Kind kind, policy::Governor& governor);
  [[nodiscard]] const Entry& at(policy::Kind kind) const;

  void add_waiting(policy::Kind kind) { ++entry(kind).waiting; }
  void remove_waiting(policy::Kind kind) { --entry(kind).waiting; }

  // An attempt of this key was learnt: the kinds it says something about are to be refreshed.
  void learnt(const policy::Key& key);
  // Tells the governor what is believed now of some of the kinds that are out of date. Returns
  // whether any are left.
  bool refresh(const policy::Estimator& estimator, policy::Governor& governor);

  // The same of one kind, if it is out of date.
  void refresh_now(policy::Kind kind, const policy::Estimator& estimator,
                   policy::Governor& governor);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  using Facts = std::vector<std::optional<double>>;  // all of JobFacts, comparable

  using Name = std::pair<std::pair<std::string, std::string>, Facts>;

  static Name name_of(const policy::Key& key, const policy::JobFacts& facts);
  Entry& entry(policy::Kind kind) { return entries_.at(kind); }
  void forget(policy::Kind kind);

  std::map<policy::Kind, Entry> entries_;
  policy::Kind next_{};
  std::map<Name, policy::Kind> numbers_;
  std::set<std::pair<std::uint64_t, policy::Kind>> idle_;  // without jobs since, in order
  std::uint64_t last_idle_ = 0;
  std::map<std::string, std::vector<policy::Kind>> by_tool_;
  std::set<policy::Kind> stale_;
  policy::Kind round_{};  // of all kinds, for what was learnt of others
};

}  // namespace plimsoll::engine

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

// Numbers the kinds of jobs (same key, same facts), and keeps the governor's estimates of those
// that wait up to date with what the estimator learns.
class Kinds {
 public:
  struct Entry {
    policy::Key key;
    policy::JobFacts facts;
    std::size_t waiting = 0;
  };

  // The number of these jobs; new ones are numbered.
  policy::Kind number(const policy::Key& key, const policy::JobFacts& facts);
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

  Entry& entry(policy::Kind kind) { return entries_[static_cast<std::size_t>(kind)]; }

  std::vector<Entry> entries_;
  std::map<std::pair<std::pair<std::string, std::string>, Facts>, policy::Kind> numbers_;
  std::map<std::string, std::vector<policy::Kind>> by_tool_;
  std::set<policy::Kind> stale_;
  std::size_t round_ = 0;  // of all kinds, for what was learnt of others
};

}  // namespace plimsoll::engine

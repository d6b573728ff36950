#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "kernel/cgroup/group.h"
#include "kernel/counters/group_files.h"

namespace plimsoll::supervisor {

// The group of a job, and the files by which it is entered and measured.
struct JobGroup {
  std::shared_ptr<const cgroup::Leaf> group;
  Limits limits{};  // that are set on it
  // cgroup::open_v1_entrance() of all that its first process is to enter; none: they are opened
  // when it is born.
  std::vector<UniqueFd> entrances{};
  counters::GroupFiles files;
};

// Groups whose jobs have left them as new, for the next ones: to make a group, to open its files
// and to remove it cost as much as a command of a millisecond. What lies here is removed with the
// run's tree.
//
// Only of jobs so short that nobody has looked at them, of our own user: nobody else has changed
// what is set on their groups, and no other user's job gets what one has left. A job that itself
// changes it in its first milliseconds leaves that to the next one.
//
// A group keeps its name, which is that of the first job that ran in it.
class GroupStock {
 public:
  // More are removed: each has some 20 descriptors, and a few do where jobs end one by one.
  static constexpr std::size_t kGroupsMax = 4;

  // Nobody lives in the group any more, nobody was killed or frozen in it, and all of its files
  // were read then (GroupFiles::read_last()). Whether it is kept, for which it must be as new, with
  // no limits but weights: who has used up a quota would be throttled for it later.
  [[nodiscard]] bool put(JobGroup group, Instant now);

  // One that made room for another, as it has limits that few jobs have; it is to be removed.
  [[nodiscard]] std::shared_ptr<const cgroup::Leaf> take_displaced() {
    return std::exchange(displaced_, nullptr);
  }

  // One with exactly these limits, which is from now on that of `job`; nothing if there is none.
  [[nodiscard]] std::optional<JobGroup> take(const Limits& limits, const std::string& job);

  // The group that was taken is removed by whoever has it.
  void forget(const std::string& group) { jobs_.erase(group); }

  // Whose the group of this name is, by now.
  [[nodiscard]] const std::string& job_in(const std::string& group) const;

 private:
  std::vector<JobGroup> groups_;  // oldest first
  std::shared_ptr<const cgroup::Leaf> displaced_;
  std::map<std::string, std::string> jobs_;  // by the group that each was given
};

}  // namespace plimsoll::supervisor

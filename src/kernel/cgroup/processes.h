#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "kernel/cgroup/directory.h"
#include "kernel/cgroup/group.h"
#include "kernel/cgroup/group_walk.h"

// Who is in a group and in the sub-groups that its processes made.
namespace plimsoll::cgroup {

// Where to look for processes of a group.
enum class Scope : std::uint8_t {
  // The v2 directory answers for the group: one read of cgroup.events. Every part if it has none.
  v2_first,
  // All parts. A process that moved itself out of the v2 directory may still sit in a v1 one.
  every_part,
};

// Whether any process lives in the group or below it. Zombies do not count, parts that are gone
// hold nobody.
Result<bool> populated(const Group& group, Scope scope);

// The same bit by bit, where others are to be served in between.
class OccupancyWalk {
 public:
  // `group` must outlive this.
  OccupancyWalk(const Group& group, Scope scope) : group_(group), scope_(scope), walk_(group) {}

  // Looks into some directories, up to the first with somebody in it. Nothing: it goes on. Not
  // after an answer.
  std::optional<Result<bool>> step();

 private:
  Result<bool> look_here();

  const Group& group_;
  Scope scope_;
  GroupWalk walk_;
  Result<void> failed_{};
};

// The pids of the processes in one directory, its children not looked at, each once and in
// ascending order. Of a threaded group (v2), where the kernel lists threads alone, the processes
// those belong to. Processes outside the reader's pid namespace have no pid to list.
Result<std::vector<int>> member_processes(const Directory& directory);

// The same for the whole group: all parts and everything below them. What can't be listed is left
// out; an error is returned only if nothing could be.
Result<std::vector<int>> processes_below(const Group& group);

// At most `enough` processes of a directory and of those below it, each once, ascending; and in how
// many directories they were looked for, at most kSomeGroups. One below that has more children than
// that is left out, and so is what can't be listed. Of a threaded top, those of `enough` threads.
struct SomeProcesses {
  std::vector<int> pids;
  std::size_t groups = 0;
};
inline constexpr std::size_t kSomeGroups = 32;
SomeProcesses some_processes_below(const Directory& top, std::size_t enough);

// All of a group bit by bit, and no further than is asked for, where others are to be served in
// between.
class MemberWalk {
 public:
  // `enough` processes end it. `group` must outlive this.
  MemberWalk(const Group& group, std::size_t enough) : walk_(group), enough_(enough) {}

  // Looks into some directories. Returns whether anything is left.
  bool step();
  // Who was found so far: each once, in ascending order, at most `enough`.
  [[nodiscard]] const std::vector<int>& pids() const { return pids_; }

 private:
  GroupWalk walk_;
  std::size_t enough_;
  std::vector<int> pids_;
};

}  // namespace plimsoll::cgroup

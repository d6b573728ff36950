#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/units.h"
#include "kernel/cgroup/destroy.h"
#include "kernel/cgroup/group.h"
#include "kernel/cgroup/hierarchies.h"

namespace plimsoll::cgroup {

// Directories of runs (run_tree.h) by name, each with its parents in the hierarchies that have it.
using RunParents = std::map<std::string, std::vector<Group::Part>>;

// Those directly below `bases`: one listing each.
RunParents runs_at(const std::vector<Group::Part>& bases);

// Those anywhere below the mount points, down to kSearchDepthMax.
RunParents runs_anywhere(const Hierarchies& hierarchies);
inline constexpr unsigned kSearchDepthMax = 8;

struct Swept {
  std::string name;  // of the run's directory
  Remains remains;
};

// What is done about a run that somebody still holds the lock of, although the process that took
// it has died: its guardian, which is about to remove the run, or a child that has been forked and
// has not come to its exec, which closes its copy of the lock.
enum class Orphaned : std::uint8_t {
  left,     // it is for the next sweep
  awaited,  // for kOrphanedPatience at most, all of them together
};
// A child waits for a processor until its exec, and takes a millisecond of one. Longer than where
// the machine is busy and the run was started with a low priority. A guess.
inline constexpr Duration kOrphanedPatience = std::chrono::seconds(5);

// Kills and removes what dead owners left, and only that: who holds the lock of a run keeps it. The
// groups that a named path was made of then weigh what is left in them (run_weight.h).
// Blocks until it is done or `deadline` has come.
std::vector<Swept> sweep(const RunParents& runs, Orphaned orphaned, Instant deadline,
                         Instant (*clock)());

// Whether there is anything to sweep.
bool has_stale(const RunParents& runs);

}  // namespace plimsoll::cgroup

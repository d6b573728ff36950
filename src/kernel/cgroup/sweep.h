#pragma once

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

// Kills and removes what dead owners left, and only that: who holds the lock of a run keeps it.
// Blocks until it is done or `deadline` has come.
std::vector<Swept> sweep(const RunParents& runs, Instant deadline, Instant (*clock)());

// Whether there is anything to sweep.
bool has_stale(const RunParents& runs);

}  // namespace plimsoll::cgroup

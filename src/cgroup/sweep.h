#pragma once

#include <string>
#include <vector>

#include "base/units.h"
#include "cgroup/destroy.h"
#include "cgroup/group.h"
#include "cgroup/placement.h"

namespace plimsoll::cgroup {

// Whether any directory of a run below these bases has no living owner (run_tree.h). Cheap where
// there are no runs: one listing a base.
bool has_stale_runs(const std::vector<Base>& bases);

struct Swept {
  std::string name;  // of the run's directory
  Remains remains;
};

// Kills and removes what dead owners left below `bases`, and only that: who holds the lock of a run
// keeps it. Blocks until it is done or `deadline` has come.
std::vector<Swept> sweep(const std::vector<Group::Part>& bases, Instant deadline,
                         Instant (*clock)());

}  // namespace plimsoll::cgroup

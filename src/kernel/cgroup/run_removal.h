#pragma once

#include <string>
#include <vector>

#include "base/units.h"
#include "kernel/cgroup/destroy.h"
#include "kernel/cgroup/group.h"

namespace plimsoll::cgroup {

// The end of a run's tree: kills what is in its pool, brings the caller home if it sits in the
// tree, and removes everything. Blocks until it is done or `deadline` has come; what is in the way
// then is in the answer. Called by the guardian when the supervisor is gone, by the supervisor when
// the guardian is, and by whoever sweeps a dead owner's tree.
//
// `bases` are the parents of the run's directory `name`. `home_procs` is the open cgroup.procs that
// the caller came from, or -1 if it is outside the tree: the controllers that the run enabled on
// the way are disabled again before the return, as a v2 group with controllers takes no processes.
Remains destroy_run(const std::vector<Group::Part>& bases, const std::string& name, int home_procs,
                    Instant deadline, Instant (*clock)());

}  // namespace plimsoll::cgroup

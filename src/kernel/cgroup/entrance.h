#pragma once

#include "base/result.h"
#include "base/unique_fd.h"
#include "kernel/cgroup/directory.h"

namespace plimsoll::cgroup {

// The file of a v1 group that a process with a single thread writes "0" to in order to enter, open
// for writing. It is `tasks`: a thread that moves itself alone needs no lock, while a write to
// cgroup.procs takes the one for thread groups, which waits for an RCU grace period: milliseconds,
// on a busy machine tens, and every fork and exec of the machine is slower meanwhile.
Result<UniqueFd> open_v1_entrance(const Directory& directory);

}  // namespace plimsoll::cgroup

#pragma once

#include "base/result.h"
#include "base/units.h"
#include "kernel/cgroup/directory.h"

namespace plimsoll::cgroup {

// Has the kernel take back about `amount` from a group and all below it: clean page cache, and what
// it can swap. v2 by memory.reclaim (5.19), v1 by memory.force_empty, which takes all that it can.
//
// Blocks as long as the reclaim takes, seconds at times. resource_unavailable_try_again (Error):
// less than `amount` could be had.
Result<void> reclaim(const Directory& memory, Bytes amount);

}  // namespace plimsoll::cgroup

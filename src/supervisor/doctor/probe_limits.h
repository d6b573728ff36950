#pragma once

#include <vector>

#include "kernel/cgroup/group.h"
#include "kernel/counters/network.h"
#include "supervisor/doctor/doctor.h"

namespace plimsoll::supervisor {

// Looks in a group of ours for what counts and limits CPU, I/O and processes: `cpu.limit`,
// `cpu.weight`, `io.usage`, `io.limit`, `io.weight`, `pids.limit`, `pids.peak`, and `network`.
std::vector<report::Check> probe_limits(const cgroup::Group& group,
                                        const counters::Network& network);

}  // namespace plimsoll::supervisor

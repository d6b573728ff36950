#pragma once

#include <vector>

#include "cgroup/group.h"
#include "measure/network.h"
#include "record/doctor.h"

namespace plimsoll::engine {

// Looks in a group of ours for what counts and limits CPU, I/O and processes: `cpu.limit`,
// `cpu.weight`, `io.usage`, `io.limit`, `io.weight`, `pids.limit`, `pids.peak`, and `network`.
std::vector<record::Check> probe_limits(const cgroup::Group& group,
                                        const measure::Network& network);

}  // namespace plimsoll::engine

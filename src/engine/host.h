#pragma once

#include "cgroup/hierarchies.h"
#include "engine/machine.h"
#include "record/report.h"

namespace plimsoll::engine {

// The host as reports name it; from uname(2), sysinfo(2) and the CPUs that this process may use.
record::HostInfo describe_host(const Machine& machine);

// The cores that this process may use: its affinity, bounded by the CPU quotas of its own groups
// and their ancestors; at least 1.
unsigned usable_cores(const cgroup::Hierarchies& hierarchies);

}  // namespace plimsoll::engine

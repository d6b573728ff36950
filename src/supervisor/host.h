#pragma once

#include "kernel/cgroup/hierarchies.h"
#include "report/report.h"
#include "supervisor/supervisor.h"

namespace plimsoll::supervisor {

// The host as reports name it; from uname(2), sysinfo(2) and the CPUs that this process may use.
report::HostInfo describe_host(const Supervisor& supervisor);

// What the machine has of it, by sysinfo(2).
Bytes memory_of_host();

// The cores that this process may use: its affinity, bounded by the CPU quotas of its own groups
// and their ancestors; at least 1.
unsigned usable_cores(const cgroup::Hierarchies& hierarchies);
// The same where nobody has looked for them yet.
unsigned usable_cores();

}  // namespace plimsoll::supervisor

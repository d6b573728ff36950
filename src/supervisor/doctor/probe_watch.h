#pragma once

#include <vector>

#include "kernel/cgroup/group.h"
#include "supervisor/doctor/doctor.h"
#include "supervisor/supervisor.h"

namespace plimsoll::supervisor {

// The monitors that a run would watch its memory with, as they are made for an empty group:
// `watch.event`, `watch.pressure`, `watch.threshold`, `watch.oom`.
std::vector<report::Check> probe_watch(Supervisor& supervisor, const cgroup::Group& group);

}  // namespace plimsoll::supervisor

#pragma once

#include <vector>

#include "cgroup/group.h"
#include "engine/machine.h"
#include "record/doctor.h"

namespace plimsoll::engine {

// The monitors that a run would watch its memory with, as they are made for an empty group:
// `watch.event`, `watch.pressure`, `watch.threshold`, `watch.oom`.
std::vector<record::Check> probe_watch(Machine& machine, const cgroup::Group& group);

}  // namespace plimsoll::engine

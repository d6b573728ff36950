#pragma once

#include <optional>
#include <vector>

#include "base/units.h"
#include "kernel/cgroup/group.h"
#include "supervisor/doctor/doctor.h"

namespace plimsoll::supervisor {

// `psi.system`, `psi.group` and `psi.triggers`, the last by registering triggers on the group's
// memory.pressure, or on the system's where the group has none. `group` may be null.
std::vector<report::Check> probe_pressure(const cgroup::Group* group);

// `shortest` is the shortest window of those tried for which the kernel took a trigger.
report::Check judge_triggers(std::optional<Duration> shortest);

}  // namespace plimsoll::supervisor

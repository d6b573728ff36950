#pragma once

#include <optional>
#include <vector>

#include "guardian/spawner.h"
#include "supervisor/doctor/doctor.h"
#include "supervisor/supervisor.h"

namespace plimsoll::supervisor {

// What spawning into groups was like, in the order of the tries. The guardian clones into groups
// until a child dies of it, and never again then.
struct Births {
  bool v2 = false;  // the groups are in a v2 tree; the rest stays empty without
  std::optional<guardian::Birth> first{};
  std::optional<guardian::Birth> after_neighbour{};  // cgroup.kill was written into another group
  std::optional<guardian::Birth> below_killed{};     // cgroup.kill was written into the parent
};
report::Check judge_spawn(const Births& births);
report::Check judge_spawn_after_kill(const Births& births);

// Starts, freezes, thaws and kills a process of our own: `spawn`, `spawn.after_kill`, `freeze`,
// `kill`. The error is why not even the first could be started: then no job can.
Result<std::vector<report::Check>> probe_groups(Supervisor& supervisor);

}  // namespace plimsoll::supervisor

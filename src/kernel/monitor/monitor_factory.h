#pragma once

#include <string>
#include <vector>

#include "base/loop/loop.h"
#include "base/loop/worker.h"
#include "kernel/cgroup/group.h"
#include "kernel/monitor/monitor_slot.h"

// Which monitors a host can have, the strongest first.
namespace plimsoll::monitor {

// What monitors of a pool need; all of it outlives them.
struct Surroundings {
  loop::Loop& loop;
  loop::Worker& worker;
  const cgroup::Group& pool;
};

struct Choice {
  std::vector<Candidate> candidates;
  std::string nobody;  // why there is none
};

// Wakes at the very moment: memory.events on v2, thresholds of usage on v1.
[[nodiscard]] Choice choose_event(const Surroundings& around);

// Stalls: a trigger of the kernel's, else the totals that come with each look.
[[nodiscard]] Choice choose_pressure(const Surroundings& around);

}  // namespace plimsoll::monitor

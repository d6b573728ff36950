#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "kernel/cgroup/group.h"
#include "kernel/cgroup/hierarchies.h"
#include "kernel/cgroup/kill.h"
#include "kernel/cgroup/stuck.h"

namespace plimsoll::cgroup {

// The group `name` below `parents`, opened in every hierarchy in which it exists; without parts if
// it exists in none. Its parts have the controllers of their parents.
Result<Group> open_group(const std::vector<Group::Part>& parents, const std::string& name);

// What destroy() could not do in time. `gone` and nothing else if it did all.
struct Remains {
  bool gone = false;
  std::vector<StuckProcess> processes;  // at most kReportedMax
  std::optional<Error> trouble;         // the last thing that was in the way, if there was any
};

// Kills everything in the child group `name` of `parents` and below it, and removes it from all
// hierarchies: blocking, for a program without an event loop and for tests. Between its steps it
// sleeps in poll(2), as long as Backoff says and no longer than `deadline`; the emptying of a v2
// group wakes it. At least one step is taken even if the deadline is past. A removal that fails of
// what no waiting changes is not waited for.
//
// `clock` tells the time on the monotonic clock. A name that does not exist is gone.
Remains destroy(const std::vector<Group::Part>& parents, const std::string& name, Instant deadline,
                Instant (*clock)(), KillWay way = KillWay::best);

// A group that somebody names, as destroy() wants it: its parents and its name.
struct ReapTarget {
  std::vector<Group::Part> parents;
  std::string name;
};

// The group at `path`: a directory below a mount point, in that hierarchy alone; else a path from
// the root of each hierarchy, in all that have it. An error if there is none, if it is a root, or
// if this process is in it or below.
Result<ReapTarget> find_reap_target(const Hierarchies& hierarchies, const std::string& path);

}  // namespace plimsoll::cgroup

#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/cgroup/group.h"
#include "kernel/cgroup/hierarchies.h"

namespace plimsoll::cgroup {

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

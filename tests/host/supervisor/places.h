#pragma once

#include <string>

#include "base/loop/loop.h"
#include "kernel/cgroup/group.h"
#include "kernel/cgroup/hierarchies.h"
#include "kernel/procfs/table.h"

// What tests of external jobs' places share.
namespace plimsoll::testing {

// As in /proc/PID/stat; `-` of one that is gone.
inline char state_of(int pid) {
  const auto proc = procfs::ProcDir::open();
  if (!proc) return '?';
  const auto stat = proc->read_stat(pid);
  return stat ? stat->state : '-';
}

inline bool is_dead(int pid) {
  const char state = state_of(pid);
  return state == '-' || state == 'Z';
}

// CPU time of the caller's thread for it. Where a virtual machine's processor is taken away that
// counts as well, so what has to be short is tried until it is.
template <class Act>
Duration spent_on(const Act& act) {
  const Duration begun = loop::cpu_time();
  act();
  return loop::cpu_time() - begun;
}

// The path of the leaf from the root of its hierarchies.
inline std::string path_of(const cgroup::Leaf& leaf, const cgroup::Hierarchies& hierarchies) {
  const std::string& label = leaf.parts().front().directory.label();
  for (const cgroup::Hierarchy& hierarchy : hierarchies.all) {
    if (!label.starts_with(hierarchy.mount_point + "/")) continue;
    const std::string root = hierarchy.mount_root == "/" ? "" : hierarchy.mount_root;
    return root + label.substr(hierarchy.mount_point.size());
  }
  return {};
}

}  // namespace plimsoll::testing

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/cgroup/controller.h"
#include "kernel/cgroup/mountinfo.h"

namespace plimsoll::cgroup {

// One cgroup hierarchy of the host, where it is mounted and where this process is in it.
struct Hierarchy {
  Version version{};
  ControllerSet controllers;  // bound to this hierarchy; of v2, those its mounted root offers
  std::string mount_point;
  std::string mount_root;  // the group seen at the mount point
  std::string own_path;    // the group of this process; lies below mount_root
  bool read_only = false;

  // The directory of a group given by its path in the hierarchy, which lies below mount_root.
  [[nodiscard]] std::string directory_of(std::string_view group_path) const;
};

// How a host has its controllers: `hybrid` means a v2 tree beside v1 mounts that own controllers.
enum class Layout : std::uint8_t { v2, hybrid, v1 };
std::string_view name_of(Layout layout);

// The hierarchies that Plimsoll can use, each once: v2 first if there is one, then v1 in mount
// order.
struct Hierarchies {
  std::vector<Hierarchy> all;

  [[nodiscard]] Layout layout() const;
  [[nodiscard]] const Hierarchy* v2() const;
  // Where a controller lives, v1 or v2; null if the host has it nowhere.
  [[nodiscard]] const Hierarchy* of(Controller controller) const;
};

// Binds the mounts to this process' memberships. Where a hierarchy is mounted several times, the
// mount whose root is the longest prefix of the process' own path wins, a writable one before a
// read-only one. A hierarchy in which the process lies outside every mount is left out.
Hierarchies bind_hierarchies(const std::vector<Mount>& mounts,
                             const std::vector<Membership>& memberships);

// Reads /proc/self/mountinfo, /proc/self/cgroup and the v2 root's cgroup.controllers. Fails only if
// /proc can't be read: a host without cgroups gives an empty list.
Result<Hierarchies> discover_hierarchies();

// The controllers named in a cgroup.controllers or cgroup.subtree_control text of v2.
ControllerSet parse_v2_controllers(std::string_view text);

}  // namespace plimsoll::cgroup

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel/cgroup/controller.h"

namespace plimsoll::cgroup {

// A mounted cgroup hierarchy, as a line of /proc/PID/mountinfo tells it (proc(5)).
struct Mount {
  Version version{};
  std::string mount_point;
  // The group of the hierarchy that appears at the mount point: "/" unless a subtree was
  // bind-mounted or the mount belongs to a cgroup namespace.
  std::string root;
  // v1 only: the controllers mounted together. v2 tells them in cgroup.controllers instead.
  ControllerSet controllers;
  bool read_only = false;

  bool operator==(const Mount&) const = default;
};

// The cgroup mounts of a mountinfo text, in its order. Octal escapes (\040 for a space) are undone,
// named v1 hierarchies (systemd's own) and lines of another form are passed over.
std::vector<Mount> parse_mountinfo(std::string_view text);

// One line of /proc/PID/cgroup (cgroups(7)): which group of a hierarchy the process is in.
struct Membership {
  Version version{};
  ControllerSet controllers;  // v1 only
  std::string path;           // within the hierarchy, as seen from the reader's cgroup namespace

  bool operator==(const Membership&) const = default;
};

// The hierarchies of a /proc/PID/cgroup text; " (deleted)" after a path is taken off. Of a zombie
// the v1 lines are meaningless: the kernel prints "/" for each.
std::vector<Membership> parse_memberships(std::string_view text);

}  // namespace plimsoll::cgroup

#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/cgroup/controller.h"
#include "kernel/cgroup/directory.h"

namespace plimsoll::cgroup {

// One group of ours in every hierarchy in which it exists: on v2 one directory; on a hybrid or v1
// host one for each hierarchy whose controllers are wanted. Closing it removes nothing.
class Group {
 public:
  struct Part {
    Directory directory;
    ControllerSet controllers;  // whose files this directory has
  };

  Group(std::string name, std::vector<Part> parts)
      : name_(std::move(name)), parts_(std::move(parts)) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }

  // The v2 directory: freeze, kill, pressure and cpu.stat, even where v2 has no controllers. Null
  // on a host without v2.
  [[nodiscard]] const Directory* v2() const;

  // The directory with the files of a controller, of whichever version; null if the group has none.
  [[nodiscard]] const Directory* of(Controller controller) const;

 private:
  std::string name_;
  std::vector<Part> parts_;
};

// A group that takes processes and makes no children: v2 allows only one of both where controllers
// are enabled (cgroup-v2, "No Internal Process Constraint").
class Leaf : public Group {
 public:
  using Group::Group;
};

// A group that makes children and takes no processes.
class Inner : public Group {
 public:
  using Group::Group;

  // Makes a child in the hierarchies of this group that have any of `wanted`, and on v2 always. On
  // v2 the wanted controllers that this group has are enabled for its children first. What was made
  // is removed again if a later hierarchy refuses.
  [[nodiscard]] Result<Leaf> make_leaf(const std::string& name, ControllerSet wanted);
  [[nodiscard]] Result<Inner> make_inner(const std::string& name, ControllerSet wanted);

  // Removes a child from every hierarchy; where it is gone already that is no error. The first
  // other error is returned after all were tried. May wait for a kernel lock: not on the
  // supervisor's thread.
  [[nodiscard]] Result<void> remove_child(const std::string& name) const;

 private:
  [[nodiscard]] Result<std::vector<Part>> make_parts(const std::string& name, ControllerSet wanted);

  ControllerSet enabled_;  // for the children, as far as this object did it
};

// Enables controllers for the children of a v2 group; those that are enabled already and a v1 group
// are left alone. device_or_resource_busy while the group has processes.
Result<void> enable_for_children(const Directory& directory, ControllerSet wanted);

// Gives a v1 cpuset that has no CPUs or no memory nodes those of its parent: a new one has neither,
// and takes no process and no limit before it has. Of other groups nothing is changed.
Result<void> fill_cpuset(const Directory& parent, const Directory& child);

// Moves a process into every hierarchy of the leaf, into v2 last: the group that it leaves is empty
// by its cgroup.events when nobody is left in any part of it. Pid 0 is the caller. Waits for the
// kernel's thread-group lock, sometimes for milliseconds.
Result<void> move_process(const Leaf& leaf, int pid);

// The pids that are members of a directory itself, of its children not; 0 stands for a process
// outside the reader's pid namespace.
Result<std::vector<int>> read_pids(const Directory& directory);

}  // namespace plimsoll::cgroup

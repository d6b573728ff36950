#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/cgroup/directory.h"
#include "kernel/cgroup/hierarchies.h"

namespace plimsoll::cgroup {

// The group below which a run makes its own, in one hierarchy.
struct Base {
  Hierarchy hierarchy;  // of v2 with those controllers only that this group has to give
  Directory directory;
  std::string named{};  // the path that was named, as "a/b/c"; empty: none was
};

// Whether the processes of Plimsoll go into a leaf of their run. They must where they sit in the
// base itself, as v2 enables no controllers for the children of a group that has processes.
enum class Supervisor : std::uint8_t { stays, moves };

struct Placement {
  std::vector<Base> bases;  // v2 first
  Supervisor supervisor = Supervisor::stays;
};

struct PlacementRequest {
  // --cgroup or PLIMSOLL_CGROUP: a path from the root of each hierarchy; made where it is missing.
  std::optional<std::string> path;
  // Of Plimsoll: on v2 its own group serves as base only if nobody else is in it.
  std::vector<int> own_pids;
  ControllerSet wanted;
  ControllerSet wished{};  // left out where they can't be had
  // Why systemd has made no scope for us, if it was asked: for the error that tells what would
  // help.
  std::optional<std::string> why_no_scope{};
};

// Chooses the bases: the named path; else on v1 and on a v2 tree without controllers our own group;
// on v2 our own group if it is delegated to us and we are alone in it, else, as root, the root of
// the tree. Fails with what would help when a hierarchy offers no place that can be written.
Result<Placement> find_placement(const Hierarchies& hierarchies, const PlacementRequest& request);

// Whether our own v2 group can be the base. If not and systemd runs, ask systemd for a delegated
// scope and look again; without v2 controllers there is nothing to delegate and the answer is yes.
bool own_v2_group_serves(const Hierarchies& hierarchies, const std::vector<int>& own_pids);

// Whether systemd has given this v2 group away, by the attribute user.delegate or trusted.delegate
// (systemd's "Control Group APIs and Delegation").
bool is_marked_delegated(const Directory& v2);

// `base` and the groups above it up to the first that no run has made as part of a named path; the
// deepest first.
std::vector<Directory> made_groups(const Directory& base);

// Removes of a base's path (Base::named) what runs have made, the deepest first, as far as it is
// empty: another run below it keeps it, and removes it in its turn.
void remove_made(const Directory& base, std::string_view named);

// What runs have made of the paths of bases, after what could be removed of it was.
struct MadeGroups {
  std::vector<std::string> removed;  // labels
  std::vector<Directory> in_use;     // by other runs
};

// The same as remove_made() of every such path below the root of a hierarchy, whatever run had made
// it: what is in use is not empty.
MadeGroups remove_all_made(const Directory& root);

}  // namespace plimsoll::cgroup

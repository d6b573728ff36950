#include "supervisor/doctor/probes.h"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/loop/scope.h"
#include "base/text.h"
#include "kernel/cgroup/mountinfo.h"
#include "kernel/cgroup/placement.h"

namespace plimsoll::supervisor {
namespace {

using cgroup::Controller;
using cgroup::Hierarchies;
using cgroup::Hierarchy;
using cgroup::Version;
using report::Check;
using report::CheckState;

constexpr const char* kUnified =
    "boot with systemd.unified_cgroup_hierarchy=1, or without systemd with cgroup_no_v1=all";

Check probe_kernel() {
  utsname names{};
  ::uname(&names);
  return {.id = "kernel",
          .value = std::string(names.sysname) + " " + names.release + " " + names.machine};
}

// "v2", or the controllers of a v1 hierarchy: "cpu+cpuacct".
std::string short_name(const Hierarchy& hierarchy) {
  if (hierarchy.version == Version::v2) return "v2";
  std::string name;
  for (const Controller controller : cgroup::kControllers) {
    if (!hierarchy.controllers.has(controller)) continue;
    name.append(name.empty() ? "" : "+").append(cgroup::name_of(controller, Version::v1));
  }
  return name;
}

std::string id_of(Controller controller) {
  return "controller." + std::string(cgroup::name_of(controller, Version::v2));
}

const char* cost_without(Controller controller) {
  switch (controller) {
    case Controller::memory: return "memory is neither measured nor limited";
    case Controller::cpu: return "CPU time can be neither limited nor weighted";
    case Controller::cpuacct: return "CPU time of a job is that of its main process alone";
    case Controller::cpuset: return "--cpuset can't be used";
    case Controller::io: return "I/O is neither measured nor limited";
    case Controller::pids:
      return "the number of processes cannot be limited, and fork bombs take longer to end";
    case Controller::freezer: return "jobs can't be paused";
  }
  return "";
}

const char* remedy_for(const ControllerPlace& place) {
  if (place.read_only) {
    return "mount -o remount,rw, or a container that may write its cgroups (--privileged)";
  }
  if (place.version == Version::v1) return "root, or --cgroup with a group that belongs to you";
  return "root; for other users, Delegate=cpu cpuset io memory pids with systemctl edit "
         "user@.service";
}

// The base in a hierarchy: the first below its mount point, as that of v2, in whose tree v1 may be
// mounted, comes first.
const std::string* base_in(const Hierarchy& hierarchy, const std::vector<std::string>& bases) {
  const auto inside = [&hierarchy](const std::string& base) {
    return base == hierarchy.mount_point || base.starts_with(hierarchy.mount_point + "/");
  };
  const auto found = std::find_if(bases.begin(), bases.end(), inside);
  return found == bases.end() ? nullptr : &*found;
}

std::optional<ControllerPlace> place_of(Controller controller, const Hierarchies& hierarchies,
                                        const std::vector<std::string>& bases) {
  const Hierarchy* hierarchy = hierarchies.of(controller);
  if (hierarchy == nullptr) return std::nullopt;
  const std::string* base = base_in(*hierarchy, bases);
  ControllerPlace place{.version = hierarchy->version,
                        .mount_point = hierarchy->mount_point,
                        .offered = false,
                        .read_only = hierarchy->read_only};
  const auto directory = cgroup::Directory::open(
      base != nullptr ? *base : hierarchy->directory_of(hierarchy->own_path), place.version);
  if (!directory) return place;
  place.offered = ::faccessat(directory->fd(), ".", W_OK, AT_EACCESS) == 0;
  if (place.version == Version::v2) {
    const auto text = directory->read("cgroup.controllers");
    place.offered = place.offered && text && cgroup::parse_v2_controllers(*text).has(controller);
  }
  return place;
}

// A hierarchy that we are in but that no mount shows has no entry in `hierarchies`. If it is v2, it
// may have any controller.
NoPlace why_no_place(Controller controller, const Hierarchies& hierarchies) {
  const auto text = read_text_at(AT_FDCWD, "/proc/self/cgroup");
  if (!text) return NoPlace::not_in_kernel;
  const auto memberships = cgroup::parse_memberships(*text);
  const bool sees_v2 = hierarchies.v2() != nullptr;
  const auto has = [controller, sees_v2](const cgroup::Membership& membership) {
    return membership.controllers.has(controller) ||
           (membership.version == Version::v2 && !sees_v2);
  };
  return std::any_of(memberships.begin(), memberships.end(), has) ? NoPlace::out_of_sight
                                                                  : NoPlace::not_in_kernel;
}

// Those whose work v2 does by itself are looked at where v1 is all there is.
bool concerns(Controller controller, const Hierarchies& hierarchies) {
  const bool v1_only = controller == Controller::cpuacct || controller == Controller::freezer;
  return !v1_only || (hierarchies.v2() == nullptr && !hierarchies.all.empty());
}

}  // namespace

Check judge_own_groups(const Hierarchies& hierarchies) {
  Check check{.id = "own_group"};
  std::vector<std::string> told;  // paths
  for (const Hierarchy& first : hierarchies.all) {
    if (std::find(told.begin(), told.end(), first.own_path) != told.end()) continue;
    told.push_back(first.own_path);
    check.value += (check.value.empty() ? "" : ", ") + first.own_path + " of";
    for (const Hierarchy& other : hierarchies.all) {
      if (other.own_path == first.own_path) check.value += " " + short_name(other);
    }
  }
  if (check.value.empty()) check.value = "none that is visible";
  return check;
}

Check judge_layout(const Hierarchies& hierarchies) {
  Check check{.id = "layout"};
  if (hierarchies.all.empty()) {
    check.state = CheckState::missing;
    check.value = "no cgroup hierarchy is mounted, or none that Plimsoll is in";
    check.cost =
        "jobs have no groups of their own; the check placement says whether they can run without "
        "them";
    check.remedy = "mount -t cgroup2 none /sys/fs/cgroup";
    return check;
  }
  switch (hierarchies.layout()) {
    case cgroup::Layout::v2: check.value = "v2: one tree for all controllers"; return check;
    case cgroup::Layout::hybrid:
      check.value = "hybrid: a v2 tree beside v1 hierarchies that own controllers";
      break;
    case cgroup::Layout::v1: check.value = "v1: no v2 tree"; break;
  }
  check.state = CheckState::degraded;
  check.cost = "one more directory per job for each v1 hierarchy, and what v1 cannot do (below)";
  check.remedy = kUnified;
  return check;
}

Check judge_controller(Controller controller, const ControllerPlace& place) {
  Check check{.id = id_of(controller)};
  check.value = (place.version == Version::v2 ? "v2 at " : "v1 at ") + place.mount_point;
  if (place.offered) return check;
  check.state = CheckState::missing;
  check.value += place.read_only ? ": mounted read-only" : ": not delegated to Plimsoll";
  check.cost = cost_without(controller);
  check.remedy = remedy_for(place);
  return check;
}

Check judge_controller(Controller controller, NoPlace why) {
  Check check{.id = id_of(controller), .state = CheckState::missing};
  check.cost = cost_without(controller);
  if (why == NoPlace::out_of_sight) {
    check.value = "no mount shows the group that Plimsoll is in";
    check.remedy = "mount its hierarchy inside the container or cgroup namespace";
  } else {
    check.value = "nowhere";
    const std::string name(cgroup::name_of(controller, Version::v2));
    check.remedy = "cgroup_enable=" + name +
                   " on the kernel command line, or a kernel that has the controller";
  }
  return check;
}

std::vector<Check> probe_host(const Hierarchies& hierarchies,
                              const std::vector<std::string>& bases) {
  std::vector<Check> checks = {probe_kernel(), judge_layout(hierarchies),
                               judge_own_groups(hierarchies)};
  for (const Controller controller : cgroup::kControllers) {
    if (!concerns(controller, hierarchies)) continue;
    const auto place = place_of(controller, hierarchies, bases);
    checks.push_back(place ? judge_controller(controller, *place)
                           : judge_controller(controller, why_no_place(controller, hierarchies)));
  }
  return checks;
}

PlaceKind place_kind(const PlaceFacts& facts) {
  if (facts.named) return PlaceKind::named;
  if (facts.own.ends_with("/" + facts.run_name + ".scope")) return PlaceKind::scope;
  return facts.base == facts.own ? PlaceKind::own_group : PlaceKind::root;
}

Check judge_placement(const PlaceFacts& facts) {
  const char* why = "";
  switch (place_kind(facts)) {
    case PlaceKind::named: why = "as --cgroup or PLIMSOLL_CGROUP says"; break;
    case PlaceKind::scope: why = "a scope that systemd makes for each run"; break;
    case PlaceKind::own_group: why = "the group that Plimsoll was started in"; break;
    case PlaceKind::root:
      why = "the root of the tree, because Plimsoll's own group is not delegated to it";
      break;
  }
  return {.id = "placement", .value = "below " + facts.base + ": " + why};
}

Check judge_process_mode(const std::string& why) {
  std::string_view remedy = why;
  const std::string_view cause = take_until(remedy, ';');
  return {.id = "placement",
          .state = CheckState::missing,
          .value = "process mode, without groups: " + std::string(cause),
          .cost =
              "memory is sampled, not counted; jobs cannot be limited, and stalls and network "
              "traffic are not known; processes that a job hides may live until the run ends "
              "(docs/process-mode.md)",
          .remedy = remedy.empty() ? "leave out --cgroup none" : std::string(trim(remedy))};
}

Check probe_delegation(const Hierarchies& hierarchies) {
  Check check{.id = "delegation"};
  const Hierarchy* v2 = hierarchies.v2();
  if (v2 == nullptr || v2->controllers.empty()) {
    check.value = "not needed: v2 has no controllers to delegate";
    return check;
  }
  const auto own = cgroup::Directory::open(v2->directory_of(v2->own_path), Version::v2);
  if (own && cgroup::is_marked_delegated(*own)) {
    check.value = "systemd has delegated Plimsoll's own group";
    return check;
  }
  if (!loop::systemd_runs()) {
    check.value = "not needed: no systemd owns the tree here";
    return check;
  }
  auto reached = loop::reach_systemd();
  if (reached) {
    check.value = "systemd makes a scope for each run";
    return check;
  }
  check.state = CheckState::missing;
  check.value = reached.error().message();
  check.cost = "only root has groups, at the root of the tree; jobs of others run without";
  check.remedy =
      "a manager of systemd's for the user: a login session, or loginctl enable-linger; with "
      "XDG_RUNTIME_DIR=/run/user/UID; or a unit with Delegate=yes";
  return check;
}

}  // namespace plimsoll::supervisor

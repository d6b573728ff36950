#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/cgroup/hierarchies.h"
#include "supervisor/doctor/doctor.h"

namespace plimsoll::supervisor {

// Where a controller is for us. `offered` is false where its group can't be written or, on v2, has
// not been given the controller.
struct ControllerPlace {
  cgroup::Version version{};
  std::string mount_point;
  bool offered = false;
  bool read_only = false;  // the mount
};

report::Check judge_own_groups(const cgroup::Hierarchies& hierarchies);
report::Check judge_layout(const cgroup::Hierarchies& hierarchies);

// Why a controller has no place.
enum class NoPlace : std::uint8_t {
  not_in_kernel,
  out_of_sight,  // our group lies outside every mount that we see
};
report::Check judge_controller(cgroup::Controller controller, const ControllerPlace& place);
report::Check judge_controller(cgroup::Controller controller, NoPlace why);

// `kernel`, `layout`, `own_group`, `controller.NAME`. `bases` are the directories below which
// groups were made, v2 first; of a hierarchy without one our own group is looked at.
std::vector<report::Check> probe_host(const cgroup::Hierarchies& hierarchies,
                                      const std::vector<std::string>& bases);

// Where the groups of runs go, and why there.
enum class PlaceKind : std::uint8_t { named, scope, own_group, root };
struct PlaceFacts {
  bool named = false;    // by --cgroup or PLIMSOLL_CGROUP
  std::string own;       // directory of our own group
  std::string base;      // directory below which the run's groups were made
  std::string run_name;  // as run_name() of kernel/cgroup/run_tree.h
};
PlaceKind place_kind(const PlaceFacts& facts);
report::Check judge_placement(const PlaceFacts& facts);

// `placement` in process mode, with why there are no groups.
report::Check judge_process_mode(const std::string& why);

// `delegation`: whether systemd runs, answers, and has given us our group.
report::Check probe_delegation(const cgroup::Hierarchies& hierarchies);

}  // namespace plimsoll::supervisor

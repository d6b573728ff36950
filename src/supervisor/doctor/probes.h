#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "guardian/spawner.h"
#include "kernel/cgroup/group.h"
#include "kernel/cgroup/hierarchies.h"
#include "supervisor/doctor/doctor.h"
#include "supervisor/supervisor.h"

// What doctor tries: a source for each part (probe_host.cc), which the line above the part names.
// The judge_ and parse_ functions are pure: what was found in, a check out.
namespace plimsoll::supervisor {

// probe_host.cc

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

// probe_groups.cc

// What spawning into groups was like, in the order of the tries. The guardian clones into groups
// until a child dies of it, and never again then.
struct Births {
  bool v2 = false;  // the groups are in a v2 tree; the rest stays empty without
  std::optional<guardian::Birth> first{};
  std::optional<guardian::Birth> after_neighbour{};  // cgroup.kill was written into another group
  std::optional<guardian::Birth> below_killed{};     // cgroup.kill was written into the parent
};
report::Check judge_spawn(const Births& births);
report::Check judge_spawn_after_kill(const Births& births);

// Starts, freezes, thaws and kills a process of our own: `spawn`, `spawn.after_kill`, `freeze`,
// `kill`. The error is why not even the first could be started: then no job can.
Result<std::vector<report::Check>> probe_groups(Supervisor& supervisor);

// probe_memory.cc

// Tries the memory controller on an empty group of ours: `memory.high`, `memory.peak`,
// `memory.events`, `memory.oom_group`, `memory.reclaim`, `memory.swap_limit`. Its limits are as
// before afterwards.
std::vector<report::Check> probe_memory(const cgroup::Group& group);

// The areas of swap that a text of /proc/swaps lists (proc(5)); lines of another form are passed
// over.
struct SwapArea {
  std::string name;
  Bytes size;
  bool operator==(const SwapArea&) const = default;
};
std::vector<SwapArea> parse_swaps(std::string_view text);
report::Check judge_swap(const std::vector<SwapArea>& areas);

// `swap`, from /proc/swaps.
report::Check probe_swap();

// probe_pressure.cc

// `psi.system`, `psi.group` and `psi.triggers`, the last by registering triggers on the group's
// memory.pressure, or on the system's where the group has none. `group` may be null.
std::vector<report::Check> probe_pressure(const cgroup::Group* group);

// `shortest` is the shortest window of those tried for which the kernel took a trigger.
report::Check judge_triggers(std::optional<Duration> shortest);

// probe_process.cc

// What this process may do: `capability.sys_resource`, `capability.bpf`, `capability.kill`,
// `capability.setuid`, `pidfd`, `limit.nofile`, `limit.nproc`, `oom_score_adj`, `hidepid`.
std::vector<report::Check> probe_process();

// The effective capabilities as bits numbered as in capabilities(7), of a text of /proc/PID/status;
// nothing if it has no such line.
std::optional<std::uint64_t> parse_effective_capabilities(std::string_view status);
// Root may lack some too, in a container or a unit that was given few.
enum class Caller : std::uint8_t { user, root };
std::vector<report::Check> judge_capabilities(std::uint64_t effective, Caller caller);

// Whom /proc hides from others' users (hidepid= of proc(5)).
enum class Hiding : std::uint8_t { nobody, contents, processes };

// Of a text of /proc/PID/mountinfo: the last mount at /proc, which is the one in use.
Hiding parse_hidepid(std::string_view mountinfo);

enum class LimitKind : std::uint8_t { nofile, nproc };

// Of the hard limit; nothing is no limit.
report::Check judge_limit(LimitKind kind, std::optional<std::uint64_t> hard);

// probe_file.cc

// Something that a kernel offers by a file in the group of a job.
struct FileFeature {
  std::string id;
  cgroup::Controller controller{};
  // Any of these will do.
  std::vector<const char*> v2_files;
  std::vector<const char*> v1_files;
  std::string cost;    // of doing without
  std::string remedy;  // where the controller is there and the file is not
};

// Looks for the file in the group's directory of the controller.
report::Check probe_file(const cgroup::Group& group, const FileFeature& feature);

// `feature` is missing in a group that has not even the controller.
report::Check without_controller(const FileFeature& feature);

}  // namespace plimsoll::supervisor

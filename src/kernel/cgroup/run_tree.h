#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "kernel/cgroup/group.h"
#include "kernel/cgroup/placement.h"

namespace plimsoll::cgroup {

// The groups of one run, in each hierarchy below its base:
//
//   BASE/plimsoll-20261121-035916-3f2a91c4    locked (flock(2)) while guardian or supervisor live
//     supervisor                              guardian and supervisor, where they must move (v2)
//     pool                                    the parent of all groups of jobs
//     drivers-1                               who starts jobs unasked (`plimsoll govern`)
//
// The lock is what tells a live run's tree from one that a dead owner left: a descriptor that both
// processes share, released by the kernel when the last of them is gone. A child that is being
// started has a copy until its exec (sweep.h, Orphaned).
class RunTree {
 public:
  // Makes and locks the run's directory in every base. What was made is removed again on failure.
  static Result<RunTree> create(const Placement& placement, const std::string& name);

  // Makes the supervisor's leaf and moves processes into it: v2 only, before make_pool().
  [[nodiscard]] Result<void> enter(const std::vector<int>& pids);

  // Enables `wanted` from the base down and makes the pool.
  [[nodiscard]] Result<void> make_pool(const Placement& placement, ControllerSet wanted);

  // A group for processes of the run that are not the pool's; after make_pool().
  [[nodiscard]] Result<Leaf> make_beside_pool(const std::string& name, ControllerSet wanted) {
    return run_.make_leaf(name, wanted);
  }

  // For a group beside the pool whose processes must answer while the pool's are many: memory that
  // is not taken back as long as others have some to give, and more CPU than the pool. As far as
  // its controllers go.
  void prefer(const Leaf& beside_pool) const;

  // Protects the supervisor's leaf, if it was made and as far as its controllers go: memory that is
  // not taken back as long as the groups above the run grant as much, and more CPU than the pool.
  void protect_supervisor() const;

  [[nodiscard]] const Inner& run() const { return run_; }
  [[nodiscard]] Inner& pool() { return pool_; }

 private:
  explicit RunTree(Inner run) : run_(std::move(run)), pool_({}, {}) {}
  Inner run_;
  Inner pool_;
};

// What guardian and supervisor of a large run have: some 30 MB, and some more.
inline constexpr Bytes kSupervisorMemory{std::uint64_t{64} << 20};
// Ten times the pool's 100.
inline constexpr unsigned kSupervisorWeight = 1000;
// What an interactive program has in use, with room to spare; a guess.
inline constexpr Bytes kPreferredMemory{std::uint64_t{1} << 30};
inline constexpr double kPreferredWeight = 1000;

// The names of the groups in a run's directory.
inline constexpr const char* kPoolName = "pool";
inline constexpr const char* kSupervisorName = "supervisor";

// "plimsoll-" and an id that is_run_name() knows again: date, time and eight random hex digits.
std::string run_name(std::string_view run_id);
bool is_run_name(std::string_view directory_name);

// The name of the group of a run's pool that is told in a text of /proc/PID/cgroup: "job-12" of a
// line that holds "/RUN/pool/job-12". `run`: the name of the run's directory. Empty: none.
[[nodiscard]] std::string group_in_pool(std::string_view cgroups, std::string_view run);

// Whether the owner of a run's directory is gone. The lock that proves it is held while this lives.
class StaleRun {
 public:
  // Nothing when somebody holds the lock, or when the directory is gone.
  static std::optional<StaleRun> claim(const Directory& base, const std::string& name);

 private:
  explicit StaleRun(Directory directory) : directory_(std::move(directory)) {}
  Directory directory_;
};

// The names of run directories directly below `base`, live ones too.
Result<std::vector<std::string>> runs_below(const Directory& base);

}  // namespace plimsoll::cgroup

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "base/loop/worker.h"
#include "base/result.h"
#include "kernel/cgroup/group.h"

namespace plimsoll::supervisor {

// The groups between the pool and the jobs' own, one for each user. What the kernel divides by
// weight, CPU time and I/O, it divides between users first, however many jobs each has; and the
// processes of a user are bounded together.
//
//   BASE/plimsoll-RUN/pool/user-1000/job-17
//
// A group stands while somebody holds it, and after that until kIdleMax others are not held either:
// a user whose jobs come one after the other needs but one. The rest go with the run's tree.
class UserGroups {
 public:
  struct Config {
    cgroup::ControllerSet wanted;  // that jobs' groups are to have
    // Most processes and threads of one user; not of root and this process's own.
    std::optional<std::uint64_t> processes_max{};
  };
  // `pool` and `worker` must outlive this.
  UserGroups(cgroup::Inner& pool, const Config& config, loop::Worker& worker)
      : pool_(pool), config_(config), worker_(worker) {}

  // Groups that nobody holds; more are removed.
  static constexpr std::size_t kIdleMax = 64;

  // The group of this user, made if there is none.
  [[nodiscard]] Result<std::shared_ptr<cgroup::Inner>> of(std::uint32_t uid);

 private:
  void bound(const cgroup::Inner& group, std::uint32_t uid) const;
  void remove_idle();

  cgroup::Inner& pool_;
  Config config_;
  loop::Worker& worker_;
  std::map<std::uint32_t, std::shared_ptr<cgroup::Inner>> groups_{};
  std::uint64_t removed_ = 0;  // ever; the name of one that is being removed is not used again
};

}  // namespace plimsoll::supervisor

#pragma once

#include <memory>
#include <optional>

#include "base/result.h"
#include "kernel/cgroup/freeze.h"
#include "kernel/cgroup/group.h"

namespace plimsoll::supervisor {

// Keeps a job's group frozen, with its own CPU quota lifted as long: a throttled process freezes
// only when its quota comes round. The destructor thaws and puts the quota back.
class PauseGuard {
 public:
  // `cpus`: the quota that the group has, if it has one.
  static Result<PauseGuard> pause(std::shared_ptr<const cgroup::Group> group,
                                  std::optional<double> cpus);
  PauseGuard(PauseGuard&&) noexcept = default;
  PauseGuard& operator=(PauseGuard&&) = delete;
  ~PauseGuard();

 private:
  PauseGuard(std::shared_ptr<const cgroup::Group> group, std::optional<double> cpus,
             cgroup::FreezeGuard frozen)
      : group_(std::move(group)), cpus_(cpus), frozen_(std::move(frozen)) {}

  std::shared_ptr<const cgroup::Group> group_;  // null after a move
  std::optional<double> cpus_;
  std::optional<cgroup::FreezeGuard> frozen_;
};

}  // namespace plimsoll::supervisor

#include "supervisor/processes/pause_guard.h"

#include "kernel/cgroup/limits.h"

namespace plimsoll::supervisor {

Result<PauseGuard> PauseGuard::pause(std::shared_ptr<const cgroup::Group> group,
                                     std::optional<double> cpus) {
  if (cpus) {
    // A quota that stays makes the freeze late, not wrong.
    [[maybe_unused]] const auto ignored = cgroup::set_cpus(*group, std::nullopt);
  }
  auto frozen = cgroup::FreezeGuard::freeze(*group);
  if (!frozen) {
    if (cpus) [[maybe_unused]]
      const auto ignored = cgroup::set_cpus(*group, cpus);
    return pass(std::move(frozen));
  }
  return PauseGuard(std::move(group), cpus, std::move(*frozen));
}

PauseGuard::~PauseGuard() {
  if (group_ == nullptr) return;
  frozen_.reset();
  if (cpus_) [[maybe_unused]]
    const auto ignored = cgroup::set_cpus(*group_, cpus_);
}

}  // namespace plimsoll::supervisor

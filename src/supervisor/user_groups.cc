#include "supervisor/user_groups.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "kernel/cgroup/remove.h"

namespace plimsoll::supervisor {

Result<std::shared_ptr<cgroup::Inner>> UserGroups::of(std::uint32_t uid) {
  if (const auto known = groups_.find(uid); known != groups_.end()) return known->second;
  remove_idle();
  std::string name = "user-" + std::to_string(uid);
  if (removed_ > 0) name += "-" + std::to_string(removed_);
  auto made = pool_.make_inner(name, config_.wanted);
  if (!made) return pass(std::move(made));
  bound(*made, uid);
  return groups_.emplace(uid, std::make_shared<cgroup::Inner>(std::move(*made))).first->second;
}

// As far as the host can: each job has a bound of its own.
void UserGroups::bound(const cgroup::Inner& group, std::uint32_t uid) const {
  const cgroup::Directory* pids = group.of(cgroup::Controller::pids);
  if (pids == nullptr || !config_.processes_max || uid == 0 || uid == ::geteuid()) return;
  [[maybe_unused]] const auto bounded =
      pids->write("pids.max", std::to_string(*config_.processes_max));
}

void UserGroups::remove_idle() {
  const auto is_idle = [](const auto& known) { return known.second.use_count() == 1; };
  const auto idle = std::count_if(groups_.begin(), groups_.end(), is_idle);
  if (static_cast<std::size_t>(idle) < kIdleMax) return;
  const auto one = std::find_if(groups_.begin(), groups_.end(), is_idle);
  ++removed_;
  // What can't be removed goes with the run's tree.
  worker_.submit(
      [group = std::move(one->second)] {
        [[maybe_unused]] const auto removed = cgroup::remove_group(*group);
      },
      [] {});
  groups_.erase(one);
}

}  // namespace plimsoll::supervisor

#include "supervisor/processes/group_place.h"

#include <fcntl.h>
#include <signal.h>

#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "kernel/cgroup/processes.h"
#include "kernel/cgroup/signals.h"

namespace plimsoll::supervisor {

GroupPlace::GroupPlace(const CgroupProcessSet::Deps& deps, Mover& mover, cgroup::Leaf group,
                       std::string path)
    : deps_(deps),
      mover_(mover),
      group_(std::make_shared<const cgroup::Leaf>(std::move(group))),
      path_(std::move(path)) {}

GroupPlace::~GroupPlace() = default;

void GroupPlace::take_in(Newcomer process, std::function<void(const Result<void>&)> done) {
  mover_.move(std::move(process), group_, std::move(done));
}

void GroupPlace::move_all(const std::shared_ptr<const Place>& other, std::function<void()> done) {
  const auto& into = static_cast<const GroupPlace&>(*other);  // of the same run
  mover_.empty(group_, into.group_, std::move(done));
}

bool GroupPlace::has(int pid) const {
  const auto text = read_text_at(AT_FDCWD, "/proc/" + std::to_string(pid) + "/cgroup");
  if (!text) return false;
  std::size_t parts = 0;
  for (std::string_view rest = *text; !rest.empty();) {
    if (take_line(rest).ends_with(path_)) ++parts;
  }
  return parts == group_->parts().size();
}

bool GroupPlace::is_populated() const {
  return cgroup::populated(*group_, cgroup::Scope::v2_first).value_or(true);
}

bool GroupPlace::hold() {
  auto frozen = cgroup::FreezeGuard::freeze(*group_);
  if (!frozen) return false;
  frozen_.emplace(std::move(*frozen));
  return true;
}

bool GroupPlace::keep_held() {
  const auto state = frozen_ ? frozen_->state() : Result<cgroup::FreezeState>({});
  return state && *state == cgroup::FreezeState::frozen;
}

void GroupPlace::kill() {
  // Who can't be killed now ends with the run.
  [[maybe_unused]] const auto round = cgroup::signal_all(*group_, SIGKILL);
}

std::unique_ptr<ProcessSet> GroupPlace::process_set(ProcessSetObserver& observer) {
  return std::make_unique<CgroupProcessSet>(
      deps_, observer, JobGroup{.group = group_, .files = counters::GroupFiles(*group_)},
      CgroupProcessSet::Around{});
}

}  // namespace plimsoll::supervisor

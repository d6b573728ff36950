#include "supervisor/processes/cgroup_place.h"

#include <fcntl.h>

#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "kernel/cgroup/processes.h"

namespace plimsoll::supervisor {

CgroupPlace::CgroupPlace(const CgroupProcessSet::Deps& deps, Mover& mover, cgroup::Leaf group,
                         std::string path)
    : deps_(deps),
      mover_(mover),
      group_(std::make_shared<const cgroup::Leaf>(std::move(group))),
      path_(std::move(path)) {}

CgroupPlace::~CgroupPlace() = default;

void CgroupPlace::take_in(Newcomer process, std::function<void(const Result<void>&)> done) {
  mover_.move(std::move(process), group_, std::move(done));
}

void CgroupPlace::move_all(const std::shared_ptr<const Place>& other, std::function<void()> done) {
  const auto& into = static_cast<const CgroupPlace&>(*other);  // of the same run
  mover_.empty(group_, into.group_, std::move(done));
}

bool CgroupPlace::has(int pid) const {
  const auto text = read_text_at(AT_FDCWD, "/proc/" + std::to_string(pid) + "/cgroup");
  if (!text) return false;
  std::size_t parts = 0;
  for (std::string_view rest = *text; !rest.empty();) {
    if (take_line(rest).ends_with(path_)) ++parts;
  }
  return parts == group_->parts().size();
}

bool CgroupPlace::is_populated() const {
  return cgroup::populated(*group_, cgroup::Scope::v2_first).value_or(true);
}

bool CgroupPlace::hold() {
  auto frozen = cgroup::FreezeGuard::freeze(*group_);
  if (!frozen) return false;
  frozen_.emplace(std::move(*frozen));
  return true;
}

bool CgroupPlace::keep_held() {
  const auto state = frozen_ ? frozen_->state() : Result<cgroup::FreezeState>({});
  return state && *state == cgroup::FreezeState::frozen;
}

std::unique_ptr<ProcessSet> CgroupPlace::process_set(ProcessSetObserver& observer) {
  return std::make_unique<CgroupProcessSet>(deps_, observer, group_, Limits(), nullptr);
}

}  // namespace plimsoll::supervisor

#include "supervisor/external/measured_groups.h"

#include <algorithm>
#include <utility>

#include "kernel/cgroup/mountinfo.h"

namespace plimsoll::supervisor {

void MeasuredGroups::add(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  if (!path.empty()) paths_.insert(std::move(path));
}

bool MeasuredGroups::count(std::string_view memberships) const {
  const auto all = cgroup::parse_memberships(memberships);
  const auto has_memory = [](const cgroup::Membership& membership) {
    return membership.controllers.has(cgroup::Controller::memory);
  };
  const auto is_v2 = [](const cgroup::Membership& membership) {
    return membership.version == cgroup::Version::v2;
  };
  auto charged = std::find_if(all.begin(), all.end(), has_memory);  // v1
  if (charged == all.end()) charged = std::find_if(all.begin(), all.end(), is_v2);
  if (charged == all.end()) return false;
  std::string path = charged->path;
  while (!path.empty()) {
    if (paths_.contains(path)) return true;
    path.resize(std::min(path.rfind('/'), path.size() - 1));
  }
  return false;
}

}  // namespace plimsoll::supervisor

#include "supervisor/processes/group_stock.h"

#include <algorithm>
#include <utility>

namespace plimsoll::supervisor {

bool GroupStock::put(JobGroup group, Instant now) {
  if (groups_.size() == kGroupsMax || !group.files.begin_again(*group.group, now)) return false;
  jobs_.erase(group.group->name());
  groups_.push_back(std::move(group));
  return true;
}

std::optional<JobGroup> GroupStock::take(const Limits& limits, const std::string& job) {
  const auto found = std::find_if(groups_.begin(), groups_.end(),
                                  [&](const JobGroup& group) { return group.limits == limits; });
  if (found == groups_.end()) return std::nullopt;
  JobGroup taken = std::move(*found);
  groups_.erase(found);
  jobs_.insert_or_assign(taken.group->name(), job);
  return taken;
}

const std::string& GroupStock::job_in(const std::string& group) const {
  const auto found = jobs_.find(group);
  return found == jobs_.end() ? group : found->second;
}

}  // namespace plimsoll::supervisor

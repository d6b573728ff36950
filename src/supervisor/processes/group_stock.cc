#include "supervisor/processes/group_stock.h"

#include <algorithm>
#include <utility>

namespace plimsoll::supervisor {
namespace {

bool is_only_weighed(const Limits& limits) {
  Limits weights;
  weights.cpu_weight = limits.cpu_weight;
  weights.io_weight = limits.io_weight;
  weights.weight = limits.weight;
  return limits == weights;
}

// Somebody tidies up empty groups.
bool is_gone(const JobGroup& group) {
  const auto& parts = group.group->parts();
  return !std::all_of(parts.begin(), parts.end(), [](const cgroup::Group::Part& part) {
    return part.directory.has_file("cgroup.procs");
  });
}

}  // namespace

bool GroupStock::put(JobGroup group, Instant now) {
  if (groups_.size() == kGroupsMax) std::erase_if(groups_, is_gone);
  const bool is_full = groups_.size() == kGroupsMax;
  const bool is_known = std::ranges::count(groups_, group.limits, &JobGroup::limits) > 0;
  if ((is_full && is_known) || !is_only_weighed(group.limits) ||
      !group.files.begin_again(*group.group, now)) {
    return false;
  }
  if (is_full) {
    displaced_ = groups_.front().group;
    groups_.erase(groups_.begin());
  }
  jobs_.erase(group.group->name());
  groups_.push_back(std::move(group));
  return true;
}

std::optional<JobGroup> GroupStock::take(const Limits& limits, const std::string& job) {
  for (;;) {
    const auto found = std::ranges::find(groups_, limits, &JobGroup::limits);
    if (found == groups_.end()) return std::nullopt;
    JobGroup taken = std::move(*found);
    groups_.erase(found);
    if (is_gone(taken)) continue;
    jobs_.insert_or_assign(taken.group->name(), job);
    return taken;
  }
}

const std::string& GroupStock::job_in(const std::string& group) const {
  const auto found = jobs_.find(group);
  return found == jobs_.end() ? group : found->second;
}

}  // namespace plimsoll::supervisor

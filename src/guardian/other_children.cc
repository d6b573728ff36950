#include "guardian/other_children.h"

#include <algorithm>

#include "guardian/child_list.h"

namespace plimsoll::guardian {

void OtherChildren::ended(pid_t child) {
  if (child == found_) found_ = 0;
  may_live_.reset();
}

std::optional<bool> OtherChildren::main_ended(ChildId job,
                                              const std::unordered_map<pid_t, ChildId>& started) {
  if (jobs_.erase(job) == 0) return std::nullopt;
  if (!may_live_) may_live_ = found_ != 0 || look(started);
  return may_live_;
}

bool OtherChildren::look(const std::unordered_map<pid_t, ChildId>& started) {
  const auto first = first_children();
  if (!first) return true;
  const auto is_other = [&](pid_t pid) { return pid != supervisor_ && !started.contains(pid); };
  const auto other = std::ranges::find_if(first->pids, is_other);
  if (other == first->pids.end()) return !first->are_all;
  found_ = *other;
  return true;
}

}  // namespace plimsoll::guardian

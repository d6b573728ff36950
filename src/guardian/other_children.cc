#include "guardian/other_children.h"

#include <algorithm>

#include "guardian/child_list.h"

namespace plimsoll::guardian {

bool OtherChildren::may_live(const std::unordered_map<pid_t, ChildId>& started) {
  if (found_ != 0) return true;
  const auto children = children_if_few();
  if (!children) return true;
  const auto is_other = [&](pid_t pid) { return pid != supervisor_ && !started.contains(pid); };
  const auto other = std::ranges::find_if(*children, is_other);
  if (other == children->end()) return false;
  found_ = *other;
  return true;
}

}  // namespace plimsoll::guardian

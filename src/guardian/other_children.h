#pragma once

#include <sys/types.h>

#include <optional>
#include <set>
#include <unordered_map>

#include "guardian/protocol.h"

namespace plimsoll::guardian {

// Jobs without a group, and whether the guardian has children that it has not started. Whatever
// such a job leaves behind comes to it when the job's main process ends, or has an ancestor that
// has come: where there is no such child, no job that is over has left anything. A look is one read
// of the kernel's list, 10 us; it serves all that have ended together, and there is none as long as
// a child lives that was found before.
class OtherChildren {
 public:
  explicit OtherChildren(pid_t supervisor) : supervisor_(supervisor) {}

  void began(ChildId job) { jobs_.insert(job); }
  void never_began(ChildId job) { jobs_.erase(job); }
  // A child has been waited for.
  void ended(pid_t child);
  // The main process of a job has been waited for: whether somebody may be left of it. Nothing if
  // the job is none of these. `started`: those that this process has started itself. True too where
  // the kernel has no such list (before Linux 3.5), or a long one.
  [[nodiscard]] std::optional<bool> main_ended(ChildId job,
                                               const std::unordered_map<pid_t, ChildId>& started);

 private:
  [[nodiscard]] bool look(const std::unordered_map<pid_t, ChildId>& started);

  pid_t supervisor_;
  std::set<ChildId> jobs_;
  pid_t found_ = 0;
  std::optional<bool> may_live_;  // as of a look since the last end
};

}  // namespace plimsoll::guardian

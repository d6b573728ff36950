#pragma once

#include <sys/types.h>

#include <unordered_map>

#include "guardian/protocol.h"

namespace plimsoll::guardian {

// Whether the guardian has children that it has not started. Whatever a job without a group leaves
// behind comes to it when the job's main process ends, or has an ancestor that has come: where
// there is no such child, no job that is over has left anything. A look is one read of the kernel's
// list, 10 us, and none as long as a child lives that was found before.
class OtherChildren {
 public:
  explicit OtherChildren(pid_t supervisor) : supervisor_(supervisor) {}

  // True too where the kernel has no such list (before Linux 3.5), or a long one.
  [[nodiscard]] bool may_live(const std::unordered_map<pid_t, ChildId>& started);
  // This child has been waited for.
  void ended(pid_t child) {
    if (child == found_) found_ = 0;
  }

 private:
  pid_t supervisor_;
  pid_t found_ = 0;
};

}  // namespace plimsoll::guardian

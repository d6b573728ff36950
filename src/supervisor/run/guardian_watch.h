#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "base/loop/loop.h"
#include "base/unique_fd.h"

namespace plimsoll::supervisor {

// Whether the guardian stands still because somebody has sent it a signal: a job that stops its
// parent would keep all others from being started and their ends from being seen. Then it is told,
// and the guardian continued. For those whose jobs have no terminal: with one the guardian is
// stopped as its shell wants it (SIGTTIN), and continued by that.
class GuardianWatch {
 public:
  // Twice as long at most does the guardian stand. One look costs some 20 us.
  static constexpr Duration kSampleInterval = std::chrono::seconds(1);

  // In the supervisor, whose parent it is. `tell` is given a sentence for people, from the loop.
  GuardianWatch(loop::Loop& loop, std::function<void(const std::string&)> tell);

  // From now on it stands because it was asked to (Supervisor::stop_guardian()); and no longer.
  void pause();
  void resume();

 private:
  void look();

  pid_t guardian_;  // for display, and where it is looked at
  UniqueFd pidfd_;  // of the same
  std::function<void(const std::string&)> tell_;
  bool stood_ = false;  // at the last look
  loop::Timer timer_;
};

}  // namespace plimsoll::supervisor

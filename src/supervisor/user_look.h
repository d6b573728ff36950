#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <vector>

#include "base/loop/loop.h"
#include "base/loop/worker.h"
#include "base/units.h"

namespace plimsoll::supervisor {

// Whether users have processes. That takes a look at every process of the machine, of which a user
// may have thousands: it is taken by a thread of its own, one for all who have asked before it
// began, and for a fifth of a CPU at most.
//
// Of the loop's thread. Invariant: whoever has asked is waiting in `asked_`, or in the look that is
// under way; who asks during a look is answered by the next, as what it asks for may be younger.
class UserLook {
 public:
  // True also if it can't be told.
  using Answer = std::function<void(bool lives)>;

  explicit UserLook(loop::Loop& loop);

  // Answered from the loop, never out of this call; not at all once this is gone.
  void ask(uid_t user, Answer answer);

  static constexpr int kCostShare = 5;

 private:
  struct Question {
    uid_t user{};
    Answer answer;
  };
  void begin();
  void ended(Duration cost);

  std::vector<Question> asked_;
  bool is_looking_ = false;
  Instant due_{};
  loop::Timer timer_;
  std::shared_ptr<UserLook*> self_ = std::make_shared<UserLook*>(this);
  loop::Worker worker_;  // the first to go
};

}  // namespace plimsoll::supervisor

#pragma once

#include <cstddef>
#include <deque>
#include <functional>

#include "daemon/grpc/status.h"

namespace plimsoll::daemon {

// Cleans whenever the runner turns busy or idle: before the first of the actions that run at the
// same time, and after the last. Those that come while it is cleaned wait; any number of them makes
// one cleaning. Where the cleaning before fails, the action that asked does not run, and the next
// that asks has it done again.
//
// Pure but for `clean`, which answers once, at once or later.
class IdleCleaner {
 public:
  using Done = std::function<void(Status)>;

  explicit IdleCleaner(std::function<void(Done)> clean) : clean_(std::move(clean)) {}

  // Each acquire() that was answered with ok is followed by one release().
  void acquire(Done done);
  // The status is that of the cleaning after, if this was the last.
  void release(Done done);

 private:
  void serve();

  std::function<void(Done)> clean_;
  std::size_t uses_ = 0;
  bool is_cleaning_ = false;  // then nothing is in use
  std::deque<Done> waiting_;
};

}  // namespace plimsoll::daemon

#pragma once

#include <cstddef>
#include <deque>

#include "daemon/runner/lanes.h"

namespace plimsoll::daemon {

// Cleans whenever the runner turns busy or idle: before the first of the actions that run at the
// same time, and after the last. Those that come while it is cleaned wait; any number of them makes
// one cleaning. Where the cleaning before fails, the action that asked does not run, and the next
// that asks has it done again.
//
// Pure but for the cleaner.
class IdleCleaner {
 public:
  using Done = Lanes::Done;

  class Cleaner {
   public:
    virtual ~Cleaner() = default;
    // Tells how it went, once, at once or later.
    virtual void clean(Done done) = 0;
  };

  // `cleaner` must outlive this.
  explicit IdleCleaner(Cleaner& cleaner) : cleaner_(cleaner) {}

  // Each acquire() that was answered with ok is followed by one release().
  void acquire(Done done);
  // The status is that of the cleaning after, if this was the last.
  void release(Done done);

 private:
  void serve();

  Cleaner& cleaner_;
  std::size_t uses_ = 0;
  bool is_cleaning_ = false;  // then nothing is in use
  std::deque<Done> waiting_;
};

}  // namespace plimsoll::daemon

#include "daemon/runner/idle_cleaner.h"

#include <utility>

#include "base/check.h"

namespace plimsoll::daemon {

void IdleCleaner::acquire(Done done) {
  waiting_.push_back(std::move(done));
  serve();
}

void IdleCleaner::release(Done done) {
  PLIMSOLL_CHECK(uses_ > 0 && !is_cleaning_);
  if (--uses_ > 0) return done({});
  is_cleaning_ = true;
  cleaner_.clean([this, done = std::move(done)](Status status) {
    is_cleaning_ = false;
    done(std::move(status));
    serve();
  });
}

void IdleCleaner::serve() {
  while (!is_cleaning_ && !waiting_.empty()) {
    Done next = std::move(waiting_.front());
    waiting_.pop_front();
    if (uses_ > 0) {
      ++uses_;
      next({});
      continue;
    }
    is_cleaning_ = true;
    cleaner_.clean([this, next = std::move(next)](Status status) {
      is_cleaning_ = false;
      if (status.ok()) uses_ = 1;
      next(std::move(status));
      serve();
    });
  }
}

}  // namespace plimsoll::daemon

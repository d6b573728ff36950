#pragma once

#ifndef NDEBUG
#include <cstdio>
#include <cstdlib>
#include <utility>
#endif

// Who must not wait, and what may: checked where they meet, in builds with assertions.
namespace plimsoll {

#ifndef NDEBUG

// Whether this thread must not wait now. A mark of the thread, no state of the program.
inline bool& must_not_wait() {
  thread_local bool mark = false;
  return mark;
}

// While one lives, its thread must not wait: a turn of an event loop, which others wait for.
class NoWaiting {
 public:
  NoWaiting() : before_(std::exchange(must_not_wait(), true)) {}
  ~NoWaiting() { must_not_wait() = before_; }
  NoWaiting(const NoWaiting&) = delete;
  NoWaiting& operator=(const NoWaiting&) = delete;

 private:
  bool before_;
};

// First thing in whatever may wait for long: for a disk, files of users, a client, another thread.
// Stops the program where it must not, with the name of the call.
inline void may_wait(const char* call) {
  if (!must_not_wait()) return;
  std::fprintf(
      stderr, "plimsoll: internal error: %s may block, but was called from the event loop\n", call);
  std::abort();
}

#else

struct NoWaiting {
  NoWaiting() {}  // NOLINT(modernize-use-equals-default): a variable of it is used
};
inline void may_wait(const char* /*call*/) {}

#endif

}  // namespace plimsoll

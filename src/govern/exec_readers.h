#pragma once

#include <linux/seccomp.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include "base/loop/loop.h"
#include "base/result.h"
#include "base/units.h"
#include "govern/exec.h"

namespace plimsoll::govern {

class ExecReadersObserver {
 public:
  ExecReadersObserver() = default;
  ExecReadersObserver(const ExecReadersObserver&) = delete;
  ExecReadersObserver& operator=(const ExecReadersObserver&) = delete;
  virtual ~ExecReadersObserver() = default;
  // What the reader says; resource_unavailable_try_again if it was not asked, as all threads hang.
  virtual void on_read(const seccomp_notif& call, Result<std::optional<Exec>> exec) = 0;
};

// Reads what is about to be executed, on threads: the file may be on a file system that hangs, or
// that a process below the same command serves, and the words in memory that one has yet to fill
// (userfaultfd(2)). Whoever serves them may have to execute something first.
//
// Of the loop's thread. One thread reads all, and others come only if that one hangs.
class ExecReaders {
 public:
  using Read = Result<std::optional<Exec>> (*)(const seccomp_notif& call);

  // `loop` and `observer` must outlive this; `reader` is called on any thread.
  ExecReaders(loop::Loop& loop, ExecReadersObserver& observer, Read reader);
  ExecReaders(const ExecReaders&) = delete;
  ExecReaders& operator=(const ExecReaders&) = delete;
  // Waits for nobody: what is being read is told to nobody any more.
  ~ExecReaders();

  // The observer is told, in a later turn of the loop.
  void read(const seccomp_notif& call);

  // From now on the observer is not told of calls that will fail: `answer` is called at once, on
  // the thread that has read, and is not to wait. Not after this has been destroyed.
  void answer_failing(std::function<void(const seccomp_notif&)> answer);

  static constexpr std::size_t kThreadsMax = 64;
  // If no reading has begun for so long although some wait, there is another thread.
  static constexpr Duration kHangs = std::chrono::milliseconds(25);
  // If there are as many as may be, what waits is told unread after so long.
  static constexpr Duration kPatience = std::chrono::seconds(1);

 private:
  class State;
  void look();

  std::shared_ptr<State> state_;
  loop::Timer timer_;
};

}  // namespace plimsoll::govern

#pragma once

#include <sys/types.h>

#include <optional>
#include <utility>

#include "guardian/heartbeat.h"

namespace plimsoll::guardian {

// What the guardian does about a signal before the supervisor has begun and hears of it: the same
// as a program that does nothing about signals.
class EarlySignals {
 public:
  EarlySignals(Heartbeat heartbeat, pid_t supervisor)
      : heartbeat_(std::move(heartbeat)), supervisor_(supervisor) {}

  // Whether that was done: both processes are stopped, and this returns when they go on, or the
  // supervisor is killed. Else it is the supervisor's to hear of.
  [[nodiscard]] bool take(int number);

  // What has killed it; nothing: it has begun.
  [[nodiscard]] std::optional<int> killed_by() const { return killed_by_; }

 private:
  Heartbeat heartbeat_;
  pid_t supervisor_;
  std::optional<int> killed_by_;
};

}  // namespace plimsoll::guardian

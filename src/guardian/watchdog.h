#pragma once

#include <optional>

#include "guardian/heartbeat.h"
#include "guardian/protocol.h"
#include "guardian/stall_detector.h"
#include "kernel/cgroup/directory.h"

namespace plimsoll::guardian {

// Stands beside the wall of the run's pool: memory.high throttles everybody who allocates there,
// and somebody must relieve them within milliseconds. While the supervisor is silent for
// StallDetector::kMax the pool is frozen and the throttle lifted; when it beats again, the pool is
// thawed, and the supervisor puts the throttle back. What it has frozen itself, single jobs, stays
// as it is.
//
// A false alarm costs little: a supervisor that was ready to run and got no processor gets one as
// soon as its jobs stand, and they go on.
class Watchdog {
 public:
  explicit Watchdog(Heartbeat heartbeat) : heartbeat_(std::move(heartbeat)) {}

  // The pool of this tree has a wall from now on: opens it. Without a freezer there is nothing that
  // this could do, and nothing is done.
  void watch(const HandOver& tree);

  // How long until check() is due; nothing while there is nothing to watch.
  [[nodiscard]] std::optional<Duration> next_check() const;
  void check(Instant now);

  // The supervisor is gone, and with it the watcher: takes the throttle away.
  void lift();

 private:
  void stop_pool(Instant now);
  void let_pool_go(Instant now);

  Heartbeat heartbeat_;
  StallDetector stall_detector_;
  bool holds_ = false;
  std::optional<cgroup::Directory> freezer_;
  std::optional<cgroup::Directory> memory_;  // the pool's
};

}  // namespace plimsoll::guardian

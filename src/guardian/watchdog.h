#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/units.h"
#include "guardian/heartbeat.h"
#include "guardian/protocol.h"
#include "kernel/cgroup/directory.h"

namespace plimsoll::guardian {

// Whether the supervisor has stood still: judged by the count of its beats, looked at again and
// again. Pure.
//
// Only time in which the looker itself was awake counts: after a look that comes late (a suspended
// machine, a stopped guardian, one that got no processor either) nobody can tell who slept.
class StallDetector {
 public:
  // A loop that has not turned for so long is stopped, spins, or gets no processor: the wall then
  // throttles with nobody to relieve it. Four beats (kBeatInterval).
  static constexpr Duration kMax = std::chrono::milliseconds(200);
  // How often to look; the stop of a supervisor is found between kMax and so much later.
  static constexpr Duration kLookInterval = std::chrono::milliseconds(50);
  // How often while the pool is held: so much is lost at most after the next beat.
  static constexpr Duration kHeldLookInterval = std::chrono::milliseconds(5);
  // What one look can add at most, be it ever so late.
  static constexpr Duration kLookMax = 2 * kLookInterval;

  // True while the silence has lasted for kMax.
  [[nodiscard]] bool look(std::uint64_t beats, Instant now) {
    if (!last_look_ || beats != beats_) {
      silent_ = {};
    } else {
      silent_ += std::min(now - *last_look_, kLookMax);
    }
    beats_ = beats;
    last_look_ = now;
    return silent_ >= kMax;
  }

  // Nothing was looked at for a while, and for a reason.
  void forget() { last_look_.reset(); }

 private:
  std::optional<Instant> last_look_;
  std::uint64_t beats_ = 0;
  Duration silent_{};
};

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

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/units.h"
#include "kernel/cgroup/pool_bounds.h"
#include "supervisor/run_host.h"

namespace plimsoll::supervisor {

// Where the pool's limits stand for a line, in a group that can have `capacity` at most. The
// reasons are with the constants in the source.
cgroup::PoolBounds wall_for(cgroup::Version version, Bytes line, Bytes capacity);

class StallObserver {
 public:
  StallObserver() = default;
  StallObserver(const StallObserver&) = delete;
  StallObserver& operator=(const StallObserver&) = delete;
  virtual ~StallObserver() = default;
  // The pool goes on after the guardian has held it for so long; from the loop.
  virtual void on_stall(Duration stalled) = 0;
};

// The kernel's limits at the line of the run's pool, and the beats without which they must not
// stand: while this process is silent the guardian freezes the pool and takes the throttle away.
//
// What blocks is written on the slow worker; what takes a limit away never blocks and is written at
// once. The destructor takes all away and ends the watch.
class PoolLimits {
 public:
  // How often it was found that the guardian had held the pool, and for how long in all.
  struct Stalls {
    std::uint32_t count = 0;
    Duration time{};
  };

  // Raises the wall at `line`; the pool must have no process yet. `host` and `observer` must
  // outlive this.
  PoolLimits(RunHost& host, Bytes line, StallObserver& observer);
  PoolLimits(const PoolLimits&) = delete;
  PoolLimits& operator=(const PoolLimits&) = delete;
  ~PoolLimits();

  void set_line(Bytes line);

  // Takes the throttle away and ends the watch, for a while in which the pool stands still: the
  // caller freezes it next, whether the guardian holds it or not. restore() when it goes on.
  void lift();
  void restore();

  // What was asked of the kernel; nothing where there is no wall.
  [[nodiscard]] const std::optional<cgroup::PoolBounds>& limits() const { return limits_; }
  // Why there is none, in words; empty: there is.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  [[nodiscard]] const Stalls& stalls() const { return stalls_; }

 private:
  struct Writing;

  [[nodiscard]] bool stands() const { return limits_ && !lifted_; }
  void write_later();
  void on_beat();

  RunHost& host_;
  StallObserver& observer_;
  std::shared_ptr<Writing> writing_;  // null: no memory controller
  Bytes capacity_{};
  std::optional<cgroup::PoolBounds> limits_;
  std::string why_not_;
  bool lifted_ = false;
  Stalls stalls_;
  loop::Timer beat_timer_;
};

}  // namespace plimsoll::supervisor

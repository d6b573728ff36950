#pragma once

#include <functional>
#include <memory>

#include "base/loop/loop.h"
#include "base/units.h"

namespace plimsoll::daemon {

// What time it is, and being woken. LoopClock is the loop's; tests turn one by hand.
class Clock {
 public:
  class Timer {
   public:
    virtual ~Timer() = default;
    virtual void set(Instant when) = 0;
    virtual void off() = 0;
  };

  virtual ~Clock() = default;
  [[nodiscard]] virtual Instant now() const = 0;
  // A timer that is off until it is set, and then calls once. It may be destroyed in its own call.
  [[nodiscard]] virtual std::unique_ptr<Timer> timer(std::function<void()> callback) = 0;
};

// The time of a loop, which must outlive this and its timers.
class LoopClock : public Clock {
 public:
  explicit LoopClock(loop::Loop& loop) : loop_(loop) {}
  [[nodiscard]] Instant now() const override { return loop::now(); }
  [[nodiscard]] std::unique_ptr<Timer> timer(std::function<void()> callback) override;

 private:
  loop::Loop& loop_;
};

}  // namespace plimsoll::daemon

#pragma once

#include <functional>
#include <memory>

#include "base/units.h"

namespace plimsoll::loop {

// What time it is, and being woken. That of a Loop is behind supervisor::Supervisor; tests have one
// that they turn by hand.
class Clock {
 public:
  // Calls back once at an instant of its clock; set() arms it again. May be destroyed inside its
  // own callback. Must not outlive the clock.
  class Timer {
   public:
    Timer() = default;
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    virtual ~Timer() = default;
    virtual void set(Instant when) = 0;
    virtual void off() = 0;
  };

  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;
  [[nodiscard]] virtual Instant now() const = 0;
  // A timer that is off until it is set.
  [[nodiscard]] virtual std::unique_ptr<Timer> timer(std::function<void()> callback) = 0;
};

}  // namespace plimsoll::loop

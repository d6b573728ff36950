#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "daemon/jobs/clock.h"

namespace plimsoll::daemon {

// Time that passes when the test says so; timers ring at their instant, in order.
class FakeClock : public Clock {
 public:
  [[nodiscard]] Instant now() const override { return now_; }
  [[nodiscard]] std::unique_ptr<Timer> timer(std::function<void()> callback) override {
    return std::make_unique<Alarm>(*this, std::move(callback));
  }

  void advance(Duration by) {
    const Instant end = now_ + by;
    while (Alarm* next = first_due(end)) {
      now_ = std::max(now_, *next->due);
      next->due.reset();
      const std::function<void()> call = next->callback;  // it may end its own timer
      call();
    }
    now_ = end;
  }

 private:
  struct Alarm : Timer {
    Alarm(FakeClock& clock, std::function<void()> call) : of(clock), callback(std::move(call)) {
      of.alarms_.insert(this);
    }
    ~Alarm() override { of.alarms_.erase(this); }
    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;
    void set(Instant when) override { due = when; }
    void off() override { due.reset(); }
    FakeClock& of;
    std::function<void()> callback;
    std::optional<Instant> due;
  };

  [[nodiscard]] Alarm* first_due(Instant end) const {
    Alarm* first = nullptr;
    for (Alarm* alarm : alarms_) {
      if (!alarm->due || *alarm->due > end) continue;
      if (first == nullptr || *alarm->due < *first->due) first = alarm;
    }
    return first;
  }

  Instant now_{std::chrono::seconds(1000)};
  std::set<Alarm*> alarms_;
};

}  // namespace plimsoll::daemon

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/loop/clock.h"

namespace plimsoll::loop {

// Time stands still until it is moved; what is due on the way is called in order.
class FakeClock : public Clock {
 public:
  [[nodiscard]] Instant now() const override { return now_; }
  [[nodiscard]] std::unique_ptr<Timer> timer(std::function<void()> callback) override {
    return std::make_unique<Alarm>(*this, std::move(callback));
  }

  // Whether anything was due by then. Moves the time to that only.
  bool fire_next(Instant until) {
    const auto next = std::min_element(alarms_.begin(), alarms_.end(), &Alarm::is_sooner);
    if (next == alarms_.end() || !(*next)->due || *(*next)->due > until) return false;
    now_ = std::max(now_, *(*next)->due);
    (*next)->due.reset();
    const auto call = (*next)->call;  // it may be destroyed in the call
    (*call)();
    return true;
  }
  void advance(Duration time) {
    const Instant until = now_ + time;
    while (fire_next(until)) {
    }
    now_ = until;
  }

 private:
  struct Alarm : Timer {
    Alarm(FakeClock& of, std::function<void()> callback)
        : clock(of), call(std::make_shared<std::function<void()>>(std::move(callback))) {
      clock.alarms_.push_back(this);
    }
    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;
    ~Alarm() override { std::erase(clock.alarms_, this); }
    void set(Instant when) override {
      due = when;
      set_as = ++clock.sets_;
    }
    void off() override { due.reset(); }
    static bool is_sooner(const Alarm* one, const Alarm* other) {
      if (!one->due || !other->due) return one->due.has_value();
      return std::pair(*one->due, one->set_as) < std::pair(*other->due, other->set_as);
    }

    FakeClock& clock;
    std::shared_ptr<std::function<void()>> call;
    std::optional<Instant> due;
    std::uint64_t set_as = 0;
  };

  Instant now_{std::chrono::seconds(1000)};
  std::vector<Alarm*> alarms_;
  std::uint64_t sets_ = 0;
};

}  // namespace plimsoll::loop

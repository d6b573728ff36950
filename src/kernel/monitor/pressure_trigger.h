#pragma once

#include <chrono>
#include <memory>

#include "base/loop/loop.h"
#include "base/unique_fd.h"
#include "kernel/cgroup/directory.h"
#include "kernel/monitor/alarms.h"
#include "kernel/monitor/monitor.h"

namespace plimsoll::monitor {

// Follows the stall totals that come with the looks, where no trigger can be had. Looks are never
// further apart than kStallLasts then.
class PressureTotals final : public Monitor {
 public:
  std::optional<Alarm> observe(const Reading& reading) override {
    if (!reading.stalled) return std::nullopt;
    return stalls_.observe(reading.at, *reading.stalled);
  }

 private:
  StallAlarm stalls_;
};

// The window of the trigger, the first that is taken: kernels before 6.2 or so want half a second.
inline constexpr Duration kTriggerWindows[] = {std::chrono::milliseconds(100),
                                               std::chrono::milliseconds(500)};
// Pressure that was told is told again after so long without.
inline constexpr Duration kTriggerQuiet = std::chrono::seconds(1);

// Lets the kernel watch the memory pressure of the pool: a trigger (accounting/psi) that fires when
// somebody waited for memory for kStallShare of a window, once a window at most. Windows of less
// than 2 s need CAP_SYS_RESOURCE.
class PressureTrigger final : public Monitor {
 public:
  // `v2`: the pool's directory in the v2 tree, which has the pressure of a hybrid host as well.
  static Result<std::unique_ptr<Monitor>> make(loop::Loop& loop, const cgroup::Directory& v2,
                                               MonitorOwner& owner);

  std::optional<Alarm> observe(const Reading& reading) override;

 private:
  PressureTrigger(UniqueFd file, Duration window, MonitorOwner& owner)
      : file_(std::move(file)), window_(window), owner_(owner) {}
  static Result<std::unique_ptr<Monitor>> watch(loop::Loop& loop, UniqueFd file, Duration window,
                                                MonitorOwner& owner);
  void on_event(std::uint32_t events);

  UniqueFd file_;  // the trigger lives as long
  Duration window_;
  MonitorOwner& owner_;
  bool fired_ = false;
  std::optional<Instant> last_;  // fired
  loop::Watch watch_;
};

}  // namespace plimsoll::monitor

#pragma once

#include <cstdint>
#include <vector>

#include "kernel/monitor/alarms.h"
#include "kernel/monitor/monitor_factory.h"
#include "kernel/monitor/poll_interval.h"

namespace plimsoll::monitor {

// What made somebody look.
enum class Cause : std::uint8_t { poll, event };

// Two looks that events cause are at least so far apart; as much again after each that found
// nothing near a bound (page cache makes events too), up to the most.
inline constexpr Duration kQuietMin = std::chrono::milliseconds(1);
inline constexpr Duration kQuietMax = std::chrono::milliseconds(64);

// What a watcher reads by, and whom it tells.
class WatcherHost {
 public:
  virtual ~WatcherHost() = default;
  // Reads the pool and the machine, once. The only reader of what it reads.
  [[nodiscard]] virtual Reading look() = 0;
  // Something that must be known; before the decide() of the same look.
  virtual void on_memory_alarm(const Alarm& alarm) = 0;
  // Acts on the look.
  virtual void decide(Cause cause) = 0;
  // A monitor has failed: how its post is held now.
  virtual void on_weakened(const Status& status) = 0;
};

// Watches the memory of a pool and of the machine while anything runs there: looks when an event
// says so, and else as often as the nearer bound demands. Nothing here decides, and nothing is
// switched off while something is done about an alarm.
//
// All from one loop's thread.
class Watcher : private SlotOwner {
 public:
  // `around` and `host` outlive this.
  Watcher(const Surroundings& around, WatcherHost& host);
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  ~Watcher() override = default;

  // Something runs from now on: looks, at once at first. Or nothing does any more.
  void start();
  void stop();
  // Something has changed of which no event tells: looks at once.
  void sample_soon();

  // Which monitors, why these, how they fare.
  [[nodiscard]] std::vector<Status> status() const;

  // Looks so far.
  [[nodiscard]] std::uint64_t samples() const { return looks_; }

 private:
  void wake() override;
  void repair_soon() override { repair_timer_.set(loop::now()); }
  void look();
  void repair();
  void tell(const std::optional<Alarm>& alarm);
  [[nodiscard]] Duration gap_after(Duration cost);

  WatcherHost& host_;
  loop::Timer sample_timer_, repair_timer_;  // before the posts, whose monitors set them
  MonitorSlot event_, pressure_;
  LevelAlarm level_;
  PollInterval pace_;
  Reading seen_;
  bool is_running_ = false;
  bool was_woken_ = false;
  Duration gap_{};
  Duration quiet_ = kQuietMin;
  Instant earliest_{};  // the next look that an event may cause
  Instant due_{};       // the next in any case
  bool was_blind_ = false;
  std::uint64_t looks_ = 0;
};

}  // namespace plimsoll::monitor

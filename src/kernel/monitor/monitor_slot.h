#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernel/monitor/monitor.h"
#include "kernel/monitor/poll_interval.h"

namespace plimsoll::monitor {

// One way to hold a post.
struct Candidate {
  std::string why;  // what it goes by, and why this one
  std::function<Result<std::unique_ptr<Monitor>>(MonitorOwner&)> make;  // for this owner
  Duration gap_max = kGapMax;  // it wants looks no further apart
};

// How a post is held.
struct Status {
  std::string name;  // "event", "pressure", "threshold"; "oom" of whoever counts kernel kills
  std::string why;
  // "working", or "restarted: ", "replaced: ", "failed: " or "missing: " and the reason.
  std::string health;
  bool works = false;
};

// A monitor that fails is made once more, if that was not tried so shortly before.
inline constexpr Duration kRestartGap = std::chrono::seconds(10);

// Whom a slot tells.
class SlotOwner {
 public:
  virtual ~SlotOwner() = default;
  // As of a monitor.
  virtual void wake() = 0;
  // Call MonitorSlot::repair(), soon.
  virtual void repair_soon() = 0;
};

// A post that is always held by the strongest candidate that can: one that fails is restarted, or
// replaced by the next. Whatever happens is in its status; none ends silently.
//
// Invariant: a monitor is never destroyed inside its own callback; that is repair()'s.
class MonitorSlot : private MonitorOwner {
 public:
  // `candidates` with the strongest first; `nobody` says why there is none. `owner` must outlive
  // this.
  MonitorSlot(std::string name, std::vector<Candidate> candidates, std::string nobody,
              SlotOwner& owner);
  MonitorSlot(const MonitorSlot&) = delete;
  MonitorSlot& operator=(const MonitorSlot&) = delete;

  // The alarm that follows from this look.
  [[nodiscard]] std::optional<Alarm> observe(const Reading& reading);

  // Puts things right after a failure. True if there was one.
  bool repair(Instant now);

  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] bool is_held() const { return monitor_ != nullptr && !broken_; }
  // How far apart looks may be for the sake of whoever holds it.
  [[nodiscard]] Duration gap_max() const;

 private:
  void wake() override { owner_.wake(); }
  void failed(const Error& error) override;
  [[nodiscard]] Result<void> take_up(std::size_t candidate);
  bool take_up_from(std::size_t first, std::string& refusals);

  std::vector<Candidate> candidates_;
  SlotOwner& owner_;
  std::unique_ptr<Monitor> monitor_;
  std::size_t current_ = 0;
  std::optional<Instant> restarted_;
  std::optional<Error> broken_;
  Status status_;
};

}  // namespace plimsoll::monitor

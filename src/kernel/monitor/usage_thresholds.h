#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <optional>

#include "base/loop/loop.h"
#include "base/loop/worker.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "kernel/cgroup/directory.h"
#include "kernel/monitor/monitor.h"
#include "kernel/monitor/reading.h"

namespace plimsoll::monitor {

// What the pool may be charged with before it is looked at: close to the line, and at it.
using Thresholds = std::array<Bytes, 2>;

// Thresholds are set anew when they are off by this share of the line: setting one takes the kernel
// 10 to 30 ms.
inline constexpr std::uint64_t kMisplacedParts = 64;

// The kernel compares the charge, clean page cache included, with a threshold: what can be dropped
// is put on top of the line. Absent if the pool could not be read.
[[nodiscard]] std::optional<Thresholds> thresholds_for(const Reading& reading);

// Whether these are too far from where they should be.
[[nodiscard]] bool are_misplaced(const Thresholds& now, const Thresholds& wanted, Bytes line);

// Beyond a change of the line, thresholds follow the page cache no oftener than this.
inline constexpr Duration kRearmGap = std::chrono::seconds(1);

// Watches the charge of a v1 pool by eventfds on thresholds of memory.usage_in_bytes, one close to
// the line and one at it (cgroup-v1 memory, "Memory thresholds"). The kernel tells of both
// directions and up to some MiB late, as it counts in batches; a charge that is past a threshold
// already when it is set is not told.
class UsageThresholds final : public Monitor {
 public:
  // Sets nothing before the first observe(). Setting one waits for the kernel, so it is the
  // worker's to do.
  static Result<std::unique_ptr<Monitor>> make(loop::Loop& loop, loop::Worker& worker,
                                               const cgroup::Directory& memory,
                                               MonitorOwner& owner);

  std::optional<Alarm> observe(const Reading& reading) override;

 private:
  using Events = std::array<UniqueFd, 2>;
  struct Arming;

  UsageThresholds(loop::Loop& loop, loop::Worker& worker, MonitorOwner& owner)
      : loop_(loop), worker_(worker), owner_(owner) {}
  void arm(const Thresholds& wanted, Instant now);
  void take(Arming& arming);
  void on_event(int event);
  void fail(const Error& error);

  loop::Loop& loop_;
  loop::Worker& worker_;
  MonitorOwner& owner_;
  std::shared_ptr<const UniqueFd> usage_, control_;
  std::shared_ptr<UsageThresholds*> self_;  // null once this is gone: for what the worker has done
  bool is_arming_ = false;
  std::optional<Thresholds> armed_;
  Bytes armed_for_;  // the line
  Instant armed_at_{};
  Events events_;
  std::array<loop::Watch, 2> watches_;
};

}  // namespace plimsoll::monitor

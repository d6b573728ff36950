#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/loop/loop.h"
#include "kernel/cgroup/directory.h"
#include "kernel/counters/kernel_file.h"
#include "kernel/monitor/monitor_slot.h"
#include "policy/job/oom.h"

namespace plimsoll::supervisor {

// v1 alone.
class OomObserver {
 public:
  OomObserver() = default;
  OomObserver(const OomObserver&) = delete;
  OomObserver& operator=(const OomObserver&) = delete;
  virtual ~OomObserver() = default;
  // The kernel is about to kill somebody for the pool or a group above it.
  virtual void on_pool_oom() = 0;
};

// How often the limits of the pool and of each group above it were hit with nothing to take back:
// the counters by which a kernel kill is laid at somebody's door.
//
// v2: `oom` of memory.events.local of each. v1: an eventfd at each, which the kernel signals in the
// group that is short and in all below it, so that a group's own are those that the group above it
// has not had.
class OomWatch {
 public:
  // As of one moment, the pool first; what can't be read stays as it was.
  using Counts = std::vector<std::uint64_t>;

  // `pool` is the pool's directory of the memory controller, null without one. `loop` must outlive
  // this. Costs about 20 us a level.
  OomWatch(loop::Loop& loop, const cgroup::Directory* pool);
  OomWatch(OomWatch&&) = delete;

  // About 1 us a level.
  [[nodiscard]] Counts counts();

  // The groups above a job with what has happened there since `before`, for its evidence.
  [[nodiscard]] std::vector<policy::OomGroup> since(const Counts& before);
  // Whether each group could be read when it was last looked at.
  [[nodiscard]] bool sees_all() const { return !blind(); }

  // What it goes by, and how it fares: a kill for a group that can't be seen can't be told from one
  // for the machine, so that one such group makes the whole "failed".
  [[nodiscard]] monitor::Status status() const;

  // Null: nobody. Must outlive its place here.
  void tell(OomObserver* observer) { observer_ = observer; }

 private:
  struct Level {
    cgroup::Directory memory;
    counters::KernelFile events;  // v2
    UniqueFd event;               // v1
    std::uint64_t seen = 0;       // so often, as far as it could be read
    std::string blind{};          // why it can't be; empty if it can
  };

  void add(cgroup::Directory group);
  [[nodiscard]] std::uint64_t count(Level& level);
  [[nodiscard]] std::optional<std::string> blind() const;

  std::vector<Level> levels_;
  std::string buffer_;
  OomObserver* observer_ = nullptr;
  loop::Watch pool_watch_;  // v1
};

}  // namespace plimsoll::supervisor

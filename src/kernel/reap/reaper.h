#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "kernel/cgroup/group.h"
#include "kernel/cgroup/kill.h"
#include "kernel/cgroup/stuck.h"
#include "kernel/reap/course.h"

namespace plimsoll::loop {
class Loop;
class Worker;
}  // namespace plimsoll::loop

namespace plimsoll::reap {

// A group that is not gone yet long after its kill.
struct Stuck {
  Duration since{};                             // the beginning
  std::vector<cgroup::StuckProcess> processes;  // at most cgroup::kReportedMax; those that have a
                                                // pid here
  std::optional<Error> trouble;                 // what the last kill or removal failed of, if known
};

// What was done to a group that is gone, or that nothing more is done to.
struct Reaped {
  // Why it is still there though nobody lives in it, if so.
  std::optional<Error> left;
  // Who was still there when it was given up, at most cgroup::kReportedMax; `empty` was not called.
  std::vector<cgroup::StuckProcess> survivors;
  // Who was there when reaping began; only with LeftBehind::list. At most cgroup::kReportedMax.
  std::vector<cgroup::LeftProcess> left_behind;
  bool killed = false;     // anybody had to be
  Duration until_empty{};  // from the beginning
  Duration until_gone{};
};

// Whether the processes that live at the beginning are worth naming: at a normal end they are what
// the main process has left behind, at an eviction they are the job itself.
enum class LeftBehind : std::uint8_t { list, skip };

struct ReaperOptions {
  LeftBehind left_behind = LeftBehind::list;
  // cgroup::KillWay::signals keeps the group usable as a parent of clone3(); it is removed anyway.
  cgroup::KillWay way = cgroup::KillWay::best;
};

// What a reaper tells, all on the loop's thread.
class ReaperObserver {
 public:
  ReaperObserver() = default;
  ReaperObserver(const ReaperObserver&) = delete;
  ReaperObserver& operator=(const ReaperObserver&) = delete;
  virtual ~ReaperObserver() = default;

  // Nobody lives in the group and it still exists: the time to read its final counters. Once,
  // before on_gone(), and out of start() itself if the group is empty by then.
  virtual void on_empty() = 0;
  // After 1 (if somebody lives in it), 5 and 30 s and then each minute, as long as the group is not
  // gone. Its memory is still in use. What helps depends on the state of the processes: see
  // cgroup::StuckProcess.
  virtual void on_stuck(const Stuck& stuck) = 0;
  // Everything is removed, or can't be (Reaped::left). May destroy the reaper; the other two may
  // not.
  virtual void on_gone(const Reaped& reaped) = 0;
};

// Reaps the groups of one attempt: kills everything in them, waits until they are empty, removes
// them in all hierarchies.
//
// A group that is empty already costs one read of cgroup.events and the removal. Otherwise the
// group is killed, watched by its cgroup.events (v2) and a timer that backs off from 1 ms to 1 s,
// and killed again whenever the timer finds somebody there. Removal goes through the worker because
// rmdir waits for locks of the kernel. A process that does not die is waited for as long as it
// takes, at one look a second; a group without processes that can't be removed is left if the
// reason is one that no waiting changes.
//
// The group must not be frozen through a FreezeGuard that is let go meanwhile, and no process may
// be started in it any more. After cgroup.kill it can't be used again (cgroup::KillWay).
class Reaper {
 public:
  // `loop`, `worker` and `observer` must outlive this. The group is shared because a removal that
  // is under way goes on when the reaper is destroyed.
  Reaper(loop::Loop& loop, loop::Worker& worker, std::shared_ptr<const cgroup::Group> group,
         ReaperOptions options, ReaperObserver& observer);
  Reaper(Reaper&&) noexcept;
  Reaper& operator=(Reaper&&) noexcept;
  // Stops reaping wherever it stands; nothing is called any more.
  ~Reaper();

  // Begins. Once.
  void start();

  // Does not wait for ever, neither for the removal nor for who does not die: Course::give_up().
  void give_up();

  [[nodiscard]] State state() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace plimsoll::reap

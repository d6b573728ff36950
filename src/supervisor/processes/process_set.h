#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/result.h"
#include "base/units.h"
#include "guardian/protocol.h"
#include "kernel/cgroup/group.h"
#include "kernel/counters/usage.h"
#include "kernel/reap/reaper.h"
#include "supervisor/processes/child_observer.h"

namespace plimsoll::supervisor {

// How the kernel's OOM killer goes about a group: by single processes, the rest of which is for us
// (v1), or whole (memory.oom.group of v2).
enum class OomKills : std::uint8_t { whole, singly };

// How often the kernel has told that a group's own limit of memory, or one further up, was hit.
struct OwnOoms {
  std::uint64_t count = 0;  // v1; on v2 it is in memory.events
  bool are_seen = true;     // a hit of the own limit would be known
};

// What the owner of a process set is told, from the loop: of the main process, and of the reaping.
class ProcessSetObserver : public ChildObserver, public reap::ReaperObserver {
 public:
  // The kernel is about to kill for the group's own limit of memory, or for one further up, and
  // kills singly.
  virtual void on_oom() = 0;
  // Nobody lives here any more, and nobody was killed; only after ProcessSet::adopt(). Once.
  // `main`: how the first process ended, where the kernel tells.
  virtual void on_vacated(std::optional<guardian::WaitStatus> /*main*/) {}
};

// How the process of a pidfd has ended, for whoever is not its parent; nothing: only that knows.
[[nodiscard]] std::optional<guardian::WaitStatus> end_of_process(int pidfd);

// Where the processes of one attempt live, all of them and nobody else: whatever an attempt does to
// them, it does through this. Made for one ProcessSetObserver, which outlives it. Used from the
// loop's thread; destroying it ends nobody. Not to be destroyed from within what it tells.
class ProcessSet {
 public:
  ProcessSet() = default;
  ProcessSet(const ProcessSet&) = delete;
  ProcessSet& operator=(const ProcessSet&) = delete;
  virtual ~ProcessSet() = default;

  // Has the main process born inside. Once.
  [[nodiscard]] virtual Result<guardian::ChildId> spawn(guardian::SpawnRequest request) = 0;

  // In place of spawn(), where the group has been entered already by processes that somebody else
  // has started and waits for: on_vacated() is told when they have ended. `main`: a pidfd of the
  // first of them, which is to live as long as this. Once.
  virtual void adopt(int main) = 0;

  // From now on on_oom() is told. Once, before spawn().
  virtual OomKills watch_oom() = 0;
  [[nodiscard]] virtual OwnOoms own_ooms() = 0;

  // Stops everybody where they stand. Undone by thaw() and by the destructor; what can't be stopped
  // runs on.
  virtual void freeze() = 0;
  virtual void thaw() = 0;

  virtual void signal_all(int number) = 0;

  // Looks now and records it; overwritten by the next look.
  virtual const counters::Sample& sample(Instant now, WallTime wall, counters::Level level,
                                         counters::SampleState state) = 0;
  // When the record wants the next look.
  [[nodiscard]] virtual Instant next_due() const = 0;
  // Nothing here has run for some time: decisions do with fewer looks (counters::rest_due()).
  [[nodiscard]] virtual bool is_at_rest() const { return false; }
  // The last look: when nobody lives here any more, and before it is removed. Once.
  [[nodiscard]] virtual counters::JobUsage finish(Instant now, WallTime wall) = 0;

  // Kills everybody, waits until it is empty, removes it. Once.
  virtual void reap(reap::LeftBehind left_behind) = 0;
  // As reap::Reaper::give_up().
  virtual void give_up_removal() = 0;

  // The cgroup, where it is one; else null.
  [[nodiscard]] virtual std::shared_ptr<const cgroup::Group> group() const = 0;
};

}  // namespace plimsoll::supervisor

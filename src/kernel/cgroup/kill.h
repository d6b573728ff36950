#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "kernel/cgroup/freeze.h"
#include "kernel/cgroup/group.h"
#include "kernel/cgroup/group_walk.h"
#include "kernel/cgroup/processes.h"
#include "kernel/cgroup/signals.h"

namespace plimsoll::cgroup {

// How a group may be killed.
enum class KillWay : std::uint8_t {
  // cgroup.kill where the group has it, else signals. A group into which cgroup.kill was written
  // must never be used again: on some kernels (6.18.44) a child made in it, or in any group below
  // it, by clone3(CLONE_INTO_CGROUP) is killed at birth.
  best,
  // Signals alone, slower: for a group that is to be used again afterwards.
  signals,
  // The same, and no limit is touched: for a group of somebody else's.
  signals_alone,
};

// What one step did.
struct KillStep {
  enum class Did : std::uint8_t {
    wrote_kill,  // cgroup.kill: all that live in the v2 group die, those that are being forked too
    signalled,   // SIGKILL to each process that was found
    under_way,   // a part of one of these, and the next step goes on: to be taken soon
    freezing,    // nothing yet: waits for the freezer, so that nobody forks while being killed
  };
  Did did = Did::signalled;
  // Processes that were sent SIGKILL one by one.
  std::size_t signals = 0;
  // Why some process could not be killed or found, if so: the first reason met. Processes and
  // groups that are gone are none.
  std::optional<Error> trouble;
};

// Kills everything in a group and below it, in steps that never wait, and take some milliseconds
// however many groups and processes a job has made. The caller looks whether the group is empty
// (processes.h), and if it is not takes another step after a while (backoff.h), until it is.
//
// A kill first lifts what would delay the deaths: cpu.max, memory.high, the v1 quota; and once
// cgroup.kill is written, or before the first signals, it forbids new processes (pids.max 0). What
// a job did to its sub-groups is undone as well. With
// KillWay::signals_alone nothing is lifted for good: a group is at most frozen for a moment, and
// thawed where it is frozen on v1.
//
// Signals go through a pidfd of a process that was in the group before the pidfd was opened and is
// after, so a pid that was used again for a stranger is never hit. They are repeated at each kill.
// Small groups are signalled outright; big ones, and those that fork faster than their processes
// are found, are frozen, killed and thawed: else a bomb has the CPU while its killer waits for it.
// A freezer that does not get there in time (on v1 a process asleep at a memory limit never
// freezes) is waited for once more after the signals, with the v1 limit raised, and then let go;
// with KillWay::signals_alone at once.
//
// cgroup.kill leaves two kinds of processes alone, which get their signals one by one: those that
// have left the v2 group but not all the others; and those whose main thread has ended while other
// threads go on (seen on 6.18.44: the kernel signals the main thread only).
//
// A process in the state D dies when what it waits for ends; no step changes that.
class Kill {
 public:
  // Those that `user` could not signal are left alone by signals, as by signal_all().
  explicit Kill(KillWay way = KillWay::best, std::optional<std::uint32_t> user = {})
      : way_(way), user_(user) {}

  // `group` is the same at every step. Costs about 10 us for each process that is signalled one by
  // one; a write of cgroup.kill takes 20 to 40 ms for 1,000 processes on two CPUs, because those
  // that are dying take them away. Destroying this between two steps leaves nothing frozen.
  KillStep step(const Group& group, Instant now);

  // Writes of cgroup.kill after which a group that is still populated is signalled as well: what
  // the kernel kills is gone by then, or too busy dying to be hurried.
  static constexpr unsigned kWritesAlone = 5;

  // Processes up to which a group is signalled without being frozen first. A guess: about as many
  // as one compiler driver, linker or test has; freezing them would take longer than killing them.
  static constexpr std::size_t kOutrightMax = 32;

  // Rounds of signals, each with processes unknown to the one before, after which the group is
  // frozen first. The rounds of a group that does not fork end after one; of one whose forks were
  // under way when pids.max was written, after two.
  static constexpr unsigned kRacingRounds = 3;

  // How long a kill waits for the freezer before it signals a group that is not all frozen, and as
  // long again before it lets it go: for the first freeze, and at most; four times as long for each
  // further one. It begins with the step after the one that has asked for the freeze, which may
  // take seconds by itself. Freezing 2,000 processes that fork takes 0.1 s on an idle machine, and
  // seconds on one that they keep from everything else.
  static constexpr Duration kFreezePatience = std::chrono::milliseconds(500);
  static constexpr Duration kFreezePatienceMax = std::chrono::seconds(30);

 private:
  // What one kill goes through, some of it step by step over the whole tree.
  enum class Stage : std::uint8_t {
    begin,
    brakes,   // are lifted
    strike,   // cgroup.kill is written
    count,    // of the processes, as far as it matters
    freezer,  // is waited for, where there are many
    signals,  // to each
    thaw,     // of what is frozen on v1
    limits,   // of v1 memory are raised
    over,
  };

  std::size_t advance(const Group& group, Instant now);
  template <class Visit>
  bool visit_next(const Group& group, const Visit& visit);
  [[nodiscard]] Stage strike(const Group& group);
  [[nodiscard]] Stage counted(const Group& group, Instant now);
  [[nodiscard]] Stage look_at_freezer(const Group& group, Instant now);
  [[nodiscard]] Stage signalled(const Group& group);
  [[nodiscard]] Stage thawed(const Group& group, Instant now);
  [[nodiscard]] bool must_wait(const Group& group, Instant now) const;
  void begin_freeze(const Group& group, Instant now);

  KillWay way_;
  std::optional<std::uint32_t> user_;
  Stage stage_ = Stage::begin;
  KillStep done_;                      // by this kill so far
  std::optional<GroupWalk> walk_;      // of the stage, if it is one of the whole tree
  std::optional<MemberWalk> members_;  // before the first signals
  std::optional<SignalWalk> signals_;
  unsigned writes_ = 0;          // of cgroup.kill
  bool is_late_ = false;         // it has not waited for the freezer any longer
  bool is_counted_ = false;      // once, before the first round of signals
  std::vector<int> found_;       // pids of this round, sorted
  std::vector<int> last_found_;  // of the round before
  unsigned racing_rounds_ = 0;   // in a row that found new processes
  std::optional<FreezeGuard> freeze_;
  Instant freeze_asked_{};
  std::optional<Instant> freeze_began_;  // from when on it is waited for
  bool was_late_ = false;                // whether this freeze has been waited for in vain before
  Duration freeze_patience_ = kFreezePatience;
};

}  // namespace plimsoll::cgroup

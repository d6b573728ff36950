#pragma once

#include <sys/resource.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/pausable_clock.h"
#include "base/units.h"
#include "kernel/reap/reaper.h"
#include "policy/governor/sample_interval.h"
#include "policy/job/attempt.h"
#include "policy/job/oom.h"
#include "report/report.h"
#include "supervisor/ipc_watch.h"
#include "supervisor/process_set.h"
#include "supervisor/supervisor.h"

namespace plimsoll::supervisor {

struct AttemptRequest {
  std::string group;  // name of the group in the pool; unique in the run
  guardian::SpawnRequest spawn;
  Limits limits;
  std::optional<Duration> timeout;  // counted from the start
  // From the TERM that a time-out sends to the KILL of the whole group.
  Duration kill_after = std::chrono::seconds(5);
};

// How one execution went: all that a report says of it.
struct AttemptResult {
  policy::AttemptEnd end;
  std::string reason;  // empty for `exited`
  // Of a command that could not be executed; with `failed_to_start`.
  std::optional<guardian::StartFailed> failure;
  WallTime started{};
  WallTime ended{};
  counters::JobUsage usage;
  std::optional<report::RusageReport> rusage;
  std::optional<::rusage> kernel_usage;  // the same as the kernel has it
  std::vector<report::LeftBehind> left_behind;
  std::vector<report::IpcLeft> ipc_left;
  Duration paused{};
  // Why its group was not removed, if so: nobody lives in it.
  std::optional<Error> group_left;
  // What the kernel's OOM killer did to it, if anything, whatever its outcome.
  std::optional<policy::OomVerdict> oom;
};

// One execution of a job, from the making of its group to the group's removal. What the group is,
// a cgroup or not, only its ProcessSet knows.
//
// The states follow each other: starting, running, reaping, gone. The first cause of an end wins:
// what happens after a time-out, a cancel or an OOM kill does not change the outcome.
class Attempt {
 public:
  // None is called before start() has returned, unless the group is empty at once.
  struct Callbacks {
    // Nobody lives in the group any more: its memory is back, its place is free.
    std::function<void(const policy::AttemptEnd&)> over;
    // The group is removed as well, or left (AttemptResult); after `over`. May destroy the attempt.
    std::function<void(const AttemptResult&)> gone;
    // It was looked at, often enough for whoever decides; not while it is paused. The last time it
    // is when nobody lives in it any more, before `over`. May be empty.
    std::function<void(const counters::Sample&)> sampled;
    // A process does not die; again from time to time.
    std::function<void(const reap::Stuck&)> stuck;
  };

  Attempt(Supervisor& supervisor, AttemptRequest request, Callbacks callbacks);
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  ~Attempt();

  // Makes the group and asks for the child. Once.
  void start();

  // In place of start(): ends at once as `failed_to_start`, told from the loop.
  void refuse(std::string reason);

  // Stops its processes where they stand, once they have begun: never around a birth. Undone by
  // thaw() and by the end.
  void freeze();
  void thaw();

  // Its group has been frozen by somebody else, or thawed: time stands still for its time-out.
  void suspend();
  void resume();

  // The kernel may have killed one of its processes: if so, ends it as a whole. On v2 the kernel
  // itself kills a job whole (memory.oom.group).
  void check_oom();

  // Ends it for `cause`, at once: the whole group is killed.
  void kill(policy::Outcome cause, std::string reason);
  // TERM to all of it, and after `kill_after` of running time the kill. At once if it is paused.
  void time_out(std::string reason);
  // Sends a signal to the main process, if there is one by now.
  void signal_main(int number);
  // The same to every process of it.
  void signal_all(int number);
  // Once it is being reaped, that is not waited for without end: who does not die is left and named
  // (report::LeftFate::lives), a group that can't be removed is left.
  void give_up_removal();

  // Since the spawn, without the time in which it was frozen.
  [[nodiscard]] Duration ran() const;

  // Looks at it now, as it does by itself from time to time. Nothing happens while it is paused.
  void look();
  // How it was looked at last: when, and whether its memory moved.
  [[nodiscard]] const policy::SampleInterval& samples() const { return sample_interval_; }
  [[nodiscard]] bool is_emptied() const { return emptied_; }
  [[nodiscard]] bool was_sampled() const { return sampled_; }  // while it ran
  [[nodiscard]] bool is_paused() const { return time_.is_paused(); }
  // Its cgroup; null before start(), where none could be made, and in process mode.
  [[nodiscard]] std::shared_ptr<const cgroup::Group> group() const {
    return process_set_ == nullptr ? nullptr : process_set_->group();
  }

 private:
  struct Cause {
    policy::Outcome outcome{};
    std::string reason;
  };

  void spawn();
  void on_started(guardian::Started started);
  void on_start_failed(const guardian::StartFailed& failure);
  void on_exited(const guardian::Exited& exited);
  void on_time_out();
  void on_oom();
  void set_cause(policy::Outcome outcome, std::string reason);
  void fail_to_start(std::string reason);
  void arm_timeout();
  void pause_if_wanted();
  const counters::Sample& sample(counters::Level level);
  void sample_at(Instant due);
  void on_sample_due();
  void reap();
  void on_empty();
  void on_gone(const reap::Reaped& reaped);
  void forget_main();
  void look_at_ipc();
  void ask_for_escaped();
  void on_escaped(const guardian::Escaped& escaped);
  void tell_gone();
  void note_status();
  void conclude();
  [[nodiscard]] policy::OomEvidence oom_evidence();
  [[nodiscard]] Cause oom_cause() const;
  [[nodiscard]] Cause outcome_by_evidence();

  Supervisor& supervisor_;
  AttemptRequest request_;
  Callbacks callbacks_;
  PausableClock time_;  // since the spawn, by the job clock
  Instant spawned_{};
  std::unique_ptr<ProcessSet> process_set_;
  // Since the spawn; shared with a question of it, which may outlive this.
  std::shared_ptr<IpcWatch> ipc_watch_;
  bool is_ipc_settled_ = true;
  std::optional<guardian::ChildId> child_;
  std::optional<guardian::ChildId> leaver_;  // the same, ended: what has left its group is unknown
  UniqueFd pidfd_;
  std::vector<int> early_signals_;  // that came before the pidfd
  std::optional<guardian::WaitStatus> status_;
  std::optional<Cause> cause_;
  // Nobody lives in the group, or who does was given up; the final counters are read.
  bool emptied_ = false;
  Instant emptied_at_{};
  pid_t main_ = 0;        // for display
  bool removed_ = false;  // the group does not exist (any more)
  AttemptResult result_;
  bool freeze_wanted_ = false;
  std::optional<Duration> kill_after_ran_;  // set by a time-out's TERM
  policy::SampleInterval sample_interval_;
  bool sampled_ = false;
  bool is_reaped_ = false;  // reaping has begun
  loop::Timer sample_timer_;
  Instant sample_asked_{}, sample_due_{};  // of the timer
  loop::Timer timeout_timer_;
  bool is_killed_singly_ = false;  // by the kernel, on v1
  OomWatch::Counts ooms_before_;
};

}  // namespace plimsoll::supervisor

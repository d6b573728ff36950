#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/pausable_clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "kernel/cgroup/group.h"
#include "kernel/reap/reaper.h"
#include "policy/governor/sample_interval.h"
#include "policy/job/attempt.h"
#include "policy/job/oom.h"
#include "report/report.h"
#include "supervisor/attempt_host.h"
#include "supervisor/ipc_watch.h"
#include "supervisor/oom_watch.h"
#include "supervisor/processes/place.h"
#include "supervisor/processes/process_set.h"

namespace plimsoll::supervisor {

// What an attempt is looked at for: its report, or as well somebody who decides by its samples,
// which is more often while its memory moves.
enum class SampledFor : std::uint8_t { report, decisions };

// A process that somebody else has started and waits for.
struct AdoptedProcess {
  pid_t pid{};
  UniqueFd pidfd;
};

// A place that stands already, in place of one that is made in the pool for the attempt. Who is
// held there is let go once the attempt has begun.
struct StandingPlace {
  std::shared_ptr<Place> place;
  // Lives there: nothing is spawned, the end is that of all processes in the place, and its status
  // is not known. Absent: the place is empty, and the command is spawned in it.
  std::optional<AdoptedProcess> process;
};

struct AttemptRequest {
  std::string group;                        // name of the group in the pool; unique in the run
  std::optional<StandingPlace> standing{};  // until it has begun
  guardian::SpawnRequest spawn;
  Limits limits;
  std::optional<Duration> timeout;  // counted from the start
  // From the TERM that a time-out sends to the KILL of the whole group.
  Duration kill_after = std::chrono::seconds(5);
  SampledFor sampled_for = SampledFor::report;
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

// Whoever has started an attempt is told how it goes: nothing before start() has returned, unless
// the group is empty at once.
class AttemptObserver {
 public:
  AttemptObserver() = default;
  AttemptObserver(const AttemptObserver&) = delete;
  AttemptObserver& operator=(const AttemptObserver&) = delete;
  virtual ~AttemptObserver() = default;

  // It was looked at for decisions (SampledFor); not while it is paused. The last time it is when
  // nobody lives in it any more, before on_over().
  virtual void on_sampled(const counters::Sample& /*sample*/) {}
  // The main process has ended. What else lives in the group is killed next.
  virtual void on_main_ended() {}
  // Nobody lives in the group any more: its memory is back, its place is free.
  virtual void on_over(const policy::AttemptEnd& /*end*/) {}
  // The group that stood at on_over() (Attempt::has_group()) does so no more, or is left.
  virtual void on_removed() {}
  // All is known and nothing is left to do; after the others. The attempt must not be destroyed
  // from within any call but this.
  virtual void on_gone(const AttemptResult& result) = 0;
  // A process does not die; again from time to time.
  virtual void on_stuck(const reap::Stuck& stuck) = 0;
};

// One execution of a job, from the making of its group to the group's removal. What the group is,
// a cgroup or not, only its ProcessSet knows.
//
// The states follow each other: starting, running, reaping, gone. The first cause of an end wins:
// what happens after a time-out, a cancel or an OOM kill does not change the outcome.
//
// Once its group is removed it holds no descriptor, whatever it waits for besides.
class Attempt : private ProcessSetObserver, private IpcObserver {
 public:
  // `host` and `observer` must outlive this.
  Attempt(AttemptHost& host, AttemptRequest request, AttemptObserver& observer);
  ~Attempt() override;

  // Makes the group and asks for the child, or adopts the process. Once.
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
  // The same for somebody. Error: permission_denied, if he could not signal it himself.
  Result<void> signal_main(int number, std::uint32_t asker);
  // The same to every process of it.
  void signal_all(int number);
  // Once it is being reaped, that is not waited for without end: who does not die is left and named
  // (report::LeftFate::lives), a group that can't be removed is left.
  void give_up_removal();

  // Since the spawn, without the time in which it was frozen.
  [[nodiscard]] Duration ran() const;

  // Looks at it now, as it does by itself from time to time. Nothing happens while it is paused.
  void look();
  // The number of its main process, which may have ended; 0 before that was started.
  [[nodiscard]] pid_t main() const { return main_; }
  // How it was looked at last: when, and whether its memory moved.
  [[nodiscard]] const policy::SampleInterval& samples() const { return sample_interval_; }
  // Whatever of it still lives is being killed, or nothing does.
  [[nodiscard]] bool is_ending() const { return is_reaped_; }
  [[nodiscard]] bool is_emptied() const { return emptied_; }
  [[nodiscard]] bool was_sampled() const { return sampled_; }  // while it ran
  [[nodiscard]] bool is_paused() const { return time_.is_paused(); }
  // A group of it exists, or may.
  [[nodiscard]] bool has_group() const { return process_set_ != nullptr && !removed_; }
  // Its cgroup; null before start(), where none could be made, and in process mode.
  [[nodiscard]] std::shared_ptr<const cgroup::Group> group() const {
    return process_set_ == nullptr ? nullptr : process_set_->group();
  }

 private:
  struct Cause {
    policy::Outcome outcome{};
    std::string reason;
  };

  void on_started(guardian::Started started) override;
  void on_start_failed(const guardian::StartFailed& failure) override;
  void on_exited(const guardian::Exited& exited) override;
  void on_escaped(const guardian::Escaped& escaped) override;
  void on_oom() override;
  void on_vacated(std::optional<guardian::WaitStatus> main) override;
  void on_empty() override;
  void on_stuck(const reap::Stuck& stuck) override { observer_.on_stuck(stuck); }
  void on_gone(const reap::Reaped& reaped) override;
  void on_ipc_settled(std::vector<report::IpcLeft> left) override;

  Result<void> make_process_set();
  void begin();
  void spawn();
  void adopt(StandingPlace standing);
  void on_time_out();
  void set_cause(policy::Outcome outcome, std::string reason);
  void fail_to_start(std::string reason);
  void arm_timeout();
  void pause_if_wanted();
  const counters::Sample& sample(counters::Level level);
  void sample_at(Instant due);
  void on_sample_due();
  void reap();
  void forget_main();
  void look_at_ipc();
  void ask_for_escaped();
  void tell_gone();
  void note_status();
  void divide_cpu_time();
  void conclude();
  [[nodiscard]] bool has_oom_kills() const;
  [[nodiscard]] policy::OomEvidence oom_evidence();
  [[nodiscard]] Cause oom_cause() const;
  [[nodiscard]] Cause outcome_by_evidence();

  AttemptHost& host_;
  AttemptRequest request_;
  AttemptObserver& observer_;
  PausableClock time_;  // since the spawn, by the job clock
  Instant spawned_{};
  std::unique_ptr<ProcessSet> process_set_;
  std::unique_ptr<IpcWatch> ipc_watch_;  // since the spawn
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
  bool is_adopted_ = false;
  pid_t main_ = 0;
  bool removed_ = false;  // the group does not exist (any more)
  AttemptResult result_;
  bool freeze_wanted_ = false;
  std::optional<Duration> kill_after_ran_;  // set by a time-out's TERM
  policy::SampleInterval sample_interval_;
  bool sampled_ = false;
  bool is_reaped_ = false;                                            // reaping has begun
  std::unique_ptr<loop::Clock::Timer> sample_timer_, timeout_timer_;  // from start() on
  Instant sample_asked_{}, sample_due_{};                             // of the first
  std::unique_ptr<loop::Clock::Timer> later_;  // for a step that is not to be taken within a call
  bool is_killed_singly_ = false;              // by the kernel, on v1
  OomWatch::Counts ooms_before_;
};

}  // namespace plimsoll::supervisor

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "engine/machine.h"
#include "measure/job_sampler.h"
#include "policy/attempt.h"
#include "reap/reaper.h"
#include "record/report.h"

namespace plimsoll::engine {

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
  measure::JobUsage usage;
  std::optional<record::RusageReport> rusage;
  std::vector<record::LeftBehind> left_behind;
  Duration paused{};
};

// One execution of a job, from the making of its group to the group's removal.
//
// The states follow each other: starting, running, reaping, gone. The first cause of an end wins:
// what happens after a time-out, a cancel or an OOM kill does not change the outcome.
class Attempt {
 public:
  // None is called before start() has returned, unless the group is empty at once.
  struct Callbacks {
    // Nobody lives in the group any more: its memory is back, its place is free.
    std::function<void(const policy::AttemptEnd&)> over;
    // The group is removed as well; after `over`. May destroy the attempt.
    std::function<void(const AttemptResult&)> gone;
    // A process does not die; again from time to time.
    std::function<void(const reap::Stuck&)> stuck;
  };

  Attempt(Machine& machine, AttemptRequest request, Callbacks callbacks);
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  ~Attempt();

  // Makes the group and asks for the child. Once.
  void start();

  // In place of start(): ends at once as `failed_to_start`, told from the loop.
  void refuse(std::string reason);

  // Its group has been frozen by somebody else, or thawed: time stands still for its time-out.
  void suspend();
  void resume();

  // Ends it for `cause`, at once: the whole group is killed.
  void kill(policy::Outcome cause, std::string reason);
  // Sends a signal to the main process, if there is one by now.
  void signal_main(int number);

  // Replaces the time-out, still counted from the start.
  void set_timeout(std::optional<Duration> timeout);

  [[nodiscard]] Instant started_at() const { return started_at_; }

 private:
  struct Cause {
    policy::Outcome outcome{};
    std::string reason;
  };

  void spawn();
  void watch_v1_oom();
  void on_started(guardian::Started started);
  void on_start_failed(const guardian::StartFailed& failure);
  void on_exited(const guardian::Exited& exited);
  void on_time_out();
  void on_v1_oom();
  void set_cause(policy::Outcome outcome, std::string reason);
  void fail_to_start(std::string reason);
  void arm_timeout();
  const measure::Sample& sample(measure::Level level);
  void on_sample_due();
  void reap();
  void on_empty();
  void on_gone(const reap::Reaped& reaped);
  void conclude();
  [[nodiscard]] Cause outcome_by_evidence() const;

  Machine& machine_;
  AttemptRequest request_;
  Callbacks callbacks_;
  Instant started_at_{};
  std::shared_ptr<const cgroup::Group> group_;
  std::optional<measure::JobSampler> sampler_;
  std::optional<guardian::ChildId> child_;
  UniqueFd pidfd_;
  std::vector<int> early_signals_;  // that came before the pidfd
  std::optional<guardian::WaitStatus> status_;
  std::optional<Cause> cause_;
  bool emptied_ = false;  // nobody lives in the group, the final counters are read
  bool removed_ = false;  // the group does not exist (any more)
  AttemptResult result_;
  std::optional<Instant> suspended_at_;
  Duration suspended_{};            // in all, until the last resume()
  std::optional<Instant> kill_at_;  // after a time-out's TERM
  std::optional<reap::Reaper> reaper_;
  loop::Timer sample_timer_;
  loop::Timer timeout_timer_;
  UniqueFd oom_event_;
  loop::Watch oom_watch_;
};

}  // namespace plimsoll::engine

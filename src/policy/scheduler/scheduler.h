#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "policy/estimator/calibration.h"
#include "policy/estimator/estimator.h"
#include "policy/governor/governor.h"
#include "policy/job/attempt.h"
#include "policy/job/event.h"
#include "policy/queue/queue.h"
#include "policy/scheduler/class_caps.h"
#include "policy/scheduler/eta.h"
#include "policy/scheduler/executor.h"
#include "policy/scheduler/job_record.h"
#include "policy/scheduler/kinds.h"
#include "policy/scheduler/status.h"

namespace plimsoll::policy {

struct SchedulerConfig {
  QueueConfig queue;        // jobs_max here is the one that counts
  GovernorConfig governor;  // jobs_max is taken from `queue`
  // Where jobs without a directory of their own run; empty: they are commands of no place.
  std::string directory{};
};

// How a job went on after its attempt was over, or without one.
struct JobOver {
  JobId job{};
  std::optional<AttemptEnd> end{};   // of the attempt; absent: none ran (Skip, GiveUp)
  std::optional<Requeue> requeue{};  // present: another attempt follows
  bool gave_up = false;              // it waited for another attempt and gets none
  std::string reason;
};

// What the scheduler tells. From within its own calls: what is called must not call back.
class SchedulerListener {
 public:
  virtual ~SchedulerListener() = default;
  virtual void on_event(const Event& event) = 0;
  virtual void on_job_over(const JobOver& over) = 0;
  // What the estimator has just learnt from an attempt, for whoever stores it.
  virtual void on_learnt(const AttemptSummary& /*attempt*/) {}
  // A sentence that people should read at once.
  virtual void on_notice(const std::string& /*text*/) {}
  // The space of a file system is short, which they should read as well.
  virtual void on_disk_news(const DiskNews& news) { on_notice(news.reason); }
};

// Conducts one run: joins the queue (needs, retries, halts, time-outs), the governor and the
// estimator to an executor, real or simulated. What happens comes in as an ExecutorObserver or as
// a command; what is to be done goes out to the executor before the call returns.
//
// One thread. Pure but for the executor that it calls.
class Scheduler : public ExecutorObserver {
 public:
  // `estimator` must outlive this; each end is learnt by it. So must `listener`; none: nobody is
  // told anything.
  Scheduler(SchedulerConfig config, Estimator& estimator, SchedulerListener* listener);

  // A new job; before begin() or while the run goes on. As Queue::enter(). `input`: what it has to
  // read, if that is known.
  void enter(const JobSpec& job, std::optional<Bytes> input = {});
  // The run begins: `executor` must outlive the run; jobs start from here on.
  // `disks`: the first look at file systems, if any are watched.
  void begin(Executor& executor, const std::optional<DiskSample>& disks = {});
  // Whether every job has ended for good. What the executor still runs then is nothing.
  [[nodiscard]] bool is_over() const { return queue_.unfinished() == 0 && unended_.empty(); }

  void on_job(JobId job, const JobSample& sample) override;
  void on_last_look(JobId job, const JobSample& sample) override;
  void on_machine(const MachineSample& sample) override;
  void on_disks(const DiskSample& sample) override;
  void on_over(JobId job, const AttemptEnd& end) override;
  // Recorded at most once each kAlarmGap. What is done about it follows from the looks.
  void on_alarm(const std::string& reason, const Numbers& numbers) override;
  void on_wake() override;

  // A job that waits for commands that it has started (JobSpec::part_of) is neither frozen nor
  // evicted, as they would be lost with it; nor for so long after the last of them: most that have
  // started one start others. A guess.
  static constexpr Duration kBetweenCommands = std::chrono::seconds(2);

  // Memory that stands at the line alarms again and again.
  static constexpr Duration kAlarmGap = std::chrono::seconds(1);

  // Ctrl-C, as Queue::interrupt().
  void interrupt();
  [[nodiscard]] bool is_interrupted() const { return queue_.is_interrupted(); }
  [[nodiscard]] bool is_stopping() const { return queue_.is_stopping(); }
  // Whether and how the halt policy has stopped the run.
  [[nodiscard]] const std::optional<Halted>& halted() const { return queue_.halted(); }
  // Of a job that runs; an error says that it does not.
  Result<void> pause(JobId job);
  Result<void> resume(JobId job);
  // Of a job that runs: its end is `cancelled`.
  Result<void> kill(JobId job, const std::string& reason);
  // Of a job that waits, after begin(): it ends without (another) attempt.
  Result<void> withdraw(JobId job, const std::string& reason);
  // A job that runs has turned out to be something else than it was taken for: nothing that it has
  // used or will use is believed of its kind. Without a meaning for a job that does not run.
  void disregard(JobId job);
  // Why the next job that could run waits; nothing: it would start, or none is there.
  [[nodiscard]] const std::optional<Holding>& holding() const { return governor_.holding(); }
  // What the run may plan with from now on, and why it is something else.
  void set_share(const Share& share, std::string reason);
  // The same with another line alone.
  void set_line(Bytes line, std::string reason);
  void set_jobs_max(unsigned jobs_max);
  [[nodiscard]] Bytes line() const { return governor_.config().line; }

  // O(jobs that have not ended).
  [[nodiscard]] SchedulerStatus status() const;
  [[nodiscard]] const Counts& counts() const { return counts_; }
  // What a job is expected to reach that is known to be small (is_small()) and is not of a class
  // that has a cap: it may run without having been entered here. Nothing of any other.
  [[nodiscard]] std::optional<Bytes> known_small(const JobSpec& job) const;
  // How good the estimates were that attempts were admitted with.
  [[nodiscard]] const Calibration& calibration() const { return calibration_; }

 private:
  [[nodiscard]] Instant now() const { return executor_->now(); }
  void turn();
  void tell(EventKind kind, std::optional<JobId> job, std::string reason, Numbers numbers = {},
            std::optional<HoldCause> hold = {});
  void tell_share();
  void tell_holding();

  // How jobs come to the governor, wait for it, each as one of a kind, and end without an attempt.
  void catch_up();
  [[nodiscard]] bool is_behind() const {
    return !untold_.empty() || !arriving_.empty() || !unended_.empty();
  }
  [[nodiscard]] const std::string& capped_as(const JobRecord& job) const;
  void leave_place(JobRecord& job);
  [[nodiscard]] bool take_place(JobRecord& job);
  void stand_aside(JobRecord& job);
  void wait_for_governor(JobRecord& job);
  void enter_governor(JobRecord& job, Instant since);
  void stop_waiting(JobRecord& job);
  void take_kinds_anew(const Key& key);
  void take_kinds_anew();
  void end_unstarted(JobOver over);
  void forget(JobId job);

  void carry_out(const Decision& decision);
  void start(JobId job);
  void freeze(JobId job);
  void thaw(JobId job);
  void kill(JobId job, Outcome cause, const std::string& reason);
  Result<JobRecord*> running(JobId job);

  // Jobs that wait for commands of theirs.
  void command_begins(JobRecord& command, JobId of);
  void command_ended(const CommandOf& of);
  void end_waits();
  void tell_estimate(const JobRecord& job);

  JobRecord* note(JobId job, const JobSample& sample);
  void show(const JobRecord& job, RunningAttempt& attempt, const Showing& now);
  void learn(const JobRecord& job, const RunningAttempt& attempt, const AttemptEnd& end);

  void set_deadline(JobId job, RunningAttempt& attempt);
  void pass_deadlines();
  void follow_timeouts();
  // What is left to catch up with has its turn after so long: others of the loop have theirs in
  // between.
  static constexpr Duration kBehindGap = std::chrono::milliseconds(1);
  enum class KindsState : bool { fresh, stale };
  void set_wake(KindsState kinds);

  SchedulerConfig config_;
  Estimator& estimator_;
  SchedulerListener* listener_;
  Executor* executor_ = nullptr;  // from begin() on
  Queue queue_;
  Governor governor_;
  StallShares stall_;         // as of the last look
  std::string share_reason_;  // empty: as configured
  Kinds kinds_;
  ClassCaps caps_;
  Counts counts_;
  Calibration calibration_;
  RunProgress progress_;

  JobRecords jobs_;
  // What catch_up() has still to do, in this order.
  std::deque<JobId> untold_;                         // of the run from its beginning
  std::deque<JobId> arriving_;                       // ready, and the governor does not know yet
  std::deque<JobOver> unended_;                      // ended for the queue, unstarted
  std::optional<Instant> resume_at_;                 // when it goes on, if it was too much
  std::set<std::pair<Instant, JobId>> deadlines_;    // of RunningAttempt
  std::optional<std::pair<JobId, HoldCause>> held_;  // told last
  std::optional<Instant> alarmed_;                   // told last
  std::vector<JobId> unsorted_;                      // may be of another kind by now
  std::vector<JobId> waits_;                         // those with RunningAttempt::waits_until
};

}  // namespace plimsoll::policy

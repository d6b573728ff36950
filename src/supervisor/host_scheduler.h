#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "policy/scheduler/scheduler.h"
#include "supervisor/host_executor.h"
#include "supervisor/pool_limits.h"
#include "supervisor/supervisor.h"
#include "supervisor/system_record.h"

namespace plimsoll::supervisor {

// An attempt whose group is removed.
struct AttemptGone {
  AttemptKey key;
  const AttemptResult& result;
  counters::MachineUsage machine;  // what the whole machine was busy with meanwhile
};

// Whose job it is: asked what an attempt runs, and told how it goes. Called from within calls of
// the host scheduler, which must not be called back; the last call for a job is its end
// (on_job_over() without a requeue) or, if one of its groups stands longer, the on_gone() of that.
class JobOwner {
 public:
  virtual ~JobOwner() = default;
  // Not of an external job.
  virtual Prepared prepare(const policy::Start& start) = 0;
  // What was decided about the job, and what became of it.
  virtual void on_event(const policy::Event& /*event*/) {}
  // An attempt is over and its memory is back; before on_job_over().
  virtual void on_over(AttemptKey /*key*/) {}
  // The job has ended, or another attempt follows.
  virtual void on_job_over(const policy::JobOver& over) = 0;
  virtual void on_gone(const AttemptGone& gone) = 0;
  // Killed processes do not end; again from time to time.
  virtual void on_stuck(AttemptKey key, const reap::Stuck& stuck) = 0;
};

// What a host scheduler tells of all its jobs; an empty function is not called.
struct HostSchedulerObserver {
  std::function<void(const policy::Event&)> event;
  // What an attempt has taught the estimator.
  std::function<void(const policy::AttemptSummary&)> learnt;
  // Something that people should know.
  std::function<void(const std::string&)> notice;
};

// Runs jobs on the real machine, which may come at any time: the scheduler decides, HostExecutor
// carries out, the wall stands at the line. What a job is and what becomes of its result is its
// owner's business.
//
// Jobs of others, which are governed but not started here (external jobs), are conducted beside
// them: what is decided about those goes to an executor of their own.
class HostScheduler : private policy::SchedulerListener {
 public:
  // `machine` and `estimator` must outlive this.
  HostScheduler(Supervisor& supervisor, policy::Estimator& estimator,
                policy::SchedulerConfig config, HostSchedulerObserver observer);
  HostScheduler(const HostScheduler&) = delete;
  HostScheduler& operator=(const HostScheduler&) = delete;
  ~HostScheduler() override;

  // A new job, before begin() or after; its id is new. `owner` must outlive the job. As
  // Scheduler::enter().
  void enter(const policy::JobSpec& job, JobOwner& owner, std::optional<Bytes> input = {});

  // The job with hints that the whole machine could follow, for jobs of users who do not know it.
  [[nodiscard]] policy::JobSpec within_reach(const policy::JobSpec& job) const;

  // Where decisions about external jobs go: start(), freeze(), thaw(), reclaim() of a job, kill().
  // Before the first external job; must outlive this.
  void attach(policy::Executor& external_jobs) { external_executor_ = &external_jobs; }
  // A new job that somebody else starts, once the executor of external jobs asks its client to; it
  // must end with external_over() then. `owner` is never asked to prepare(), nor told of groups.
  void enter_external(const policy::JobSpec& job, JobOwner& owner);
  void external_sampled(JobId job, const policy::JobSample& sample);
  void external_over(JobId job, const policy::AttemptEnd& end);

  // From here on jobs start. Raises the wall: the pool is empty.
  void begin();
  // Takes the wall away, when all is over.
  void end() { pool_limits_.reset(); }
  // One turn of the machine's loop, as Supervisor::run_once().
  [[nodiscard]] Result<void> run_once(Duration timeout);
  // Whether every job has ended and every group is removed.
  [[nodiscard]] bool is_idle() const { return scheduler_.is_over() && executor_.attempts() == 0; }

  // All jobs stand still, and so does their time; undone by resume_all(). Between begin() and
  // end().
  void suspend_all();
  void resume_all();

  // Sends a signal to the main process of a job that runs here.
  void signal(JobId job, int number) { executor_.signal(job, number); }

  // Groups in which nobody lives are not waited for without end: Attempt::give_up_removal().
  void give_up_removals() { executor_.give_up_removals(); }

  // For commands and for those who watch.
  [[nodiscard]] policy::Scheduler& scheduler() { return scheduler_; }
  [[nodiscard]] const policy::Scheduler& scheduler() const { return scheduler_; }
  [[nodiscard]] const HostExecutor& executor() const { return executor_; }
  [[nodiscard]] SystemRecord& system() { return system_; }
  [[nodiscard]] const PoolLimits& wall() const {
    return *pool_limits_;
  }  // between begin() and end()

 private:
  class ExecutorRouter;
  struct Charge {
    JobOwner* owner = nullptr;
    bool is_external = false;
    Bytes used{};            // of an external job, as told last
    std::size_t groups = 0;  // of its attempts, not removed yet
    bool ended = false;
  };

  Charge& charge_of(JobId job) { return charges_.at(job); }
  [[nodiscard]] bool is_external(JobId job) const;
  void forget_if_done(JobId job);
  void watch_external();
  void external_uses(JobId job, Bytes used);
  Prepared prepare(const policy::Start& start);
  void on_event(const policy::Event& event) override;
  void on_job_over(const policy::JobOver& over) override;
  void on_learnt(const policy::AttemptSummary& attempt) override;
  void on_over(AttemptKey key);
  void on_gone(AttemptKey key, const AttemptResult& result);
  void notice(const std::string& text);

  Supervisor& supervisor_;
  Bytes reserve_, line_;  // as configured
  double cores_;
  HostSchedulerObserver observer_;
  SystemRecord system_;
  policy::Scheduler scheduler_;
  HostExecutor executor_;
  policy::Executor* external_executor_ = nullptr;
  std::unique_ptr<ExecutorRouter> router_;
  std::unique_ptr<PoolLimits> pool_limits_;
  std::unordered_map<JobId, Charge> charges_;  // of jobs that have not ended, or have a group
  std::map<AttemptKey, counters::MachineSpan> spans_;  // of attempts whose groups are not removed
  std::size_t external_running_ = 0;
  Bytes external_used_{};
};

}  // namespace plimsoll::supervisor

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "policy/scheduler/scheduler.h"
#include "supervisor/host_executor.h"
#include "supervisor/job_owner.h"
#include "supervisor/pool_limits.h"
#include "supervisor/run_host.h"
#include "supervisor/system_record.h"

namespace plimsoll::supervisor {

// What a host scheduler tells of all its jobs.
class HostSchedulerObserver {
 public:
  HostSchedulerObserver() = default;
  HostSchedulerObserver(const HostSchedulerObserver&) = delete;
  HostSchedulerObserver& operator=(const HostSchedulerObserver&) = delete;
  virtual ~HostSchedulerObserver() = default;
  virtual void on_scheduler_event(const policy::Event& /*event*/) {}
  // What an attempt has taught the estimator.
  virtual void on_learnt(const policy::AttemptSummary& /*what*/) {}
  // Something that people should know.
  virtual void on_notice(const std::string& text) = 0;
  // The same of a file system whose space is short.
  virtual void on_disk_news(const policy::DiskNews& news) { on_notice(news.reason); }
};

// Runs jobs on the real machine, which may come at any time: the scheduler decides, HostExecutor
// carries out, the wall stands at the line. What a job is and what becomes of its result is its
// owner's business.
//
// Jobs of others, which are governed but not started here (external jobs), are conducted beside
// them: what is decided about those goes to an executor of their own.
class HostScheduler : private policy::SchedulerListener,
                      private HostExecutorObserver,
                      private StallObserver {
 public:
  // All but `config` must outlive this.
  HostScheduler(RunHost& host, policy::Estimator& estimator, policy::SchedulerConfig config,
                HostSchedulerObserver& observer);
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
  void external_sampled(JobId job, const policy::JobSample& sample) {
    executor_.external_sampled(job, sample);
  }
  void external_over(JobId job, const policy::AttemptEnd& end) {
    executor_.external_over(job, end);
  }

  // From here on jobs start. Raises the wall: the pool is empty.
  void begin();
  // Takes the wall away, when all is over.
  void end() { pool_limits_.reset(); }
  // One turn of the host's loop, as RunHost::run_once().
  [[nodiscard]] Result<void> run_once(Duration timeout);
  // Whether every job has ended and every group is removed.
  [[nodiscard]] bool is_idle() const { return scheduler_.is_over() && executor_.attempts() == 0; }

  // All jobs stand still, and so does their time; undone by resume_all(). Between begin() and
  // end().
  void suspend_all();
  void resume_all();

  // As HostExecutor::signal().
  Result<void> signal(JobId job, int number, std::uint32_t asker) {
    return executor_.signal(job, number, asker);
  }

  // As HostExecutor::is_ending().
  [[nodiscard]] bool is_ending(JobId job) { return executor_.is_ending(job); }

  // Groups in which nobody lives are not waited for without end: Attempt::give_up_removal().
  void give_up_removals() { executor_.give_up_removals(); }

  // For commands and for those who watch.
  [[nodiscard]] policy::Scheduler& scheduler() { return scheduler_; }
  [[nodiscard]] const policy::Scheduler& scheduler() const { return scheduler_; }
  [[nodiscard]] const HostExecutor& executor() const { return executor_; }
  // Whether the space of any file system is watched.
  [[nodiscard]] bool watches_disks() const { return !disks_.empty(); }
  [[nodiscard]] SystemRecord& system() { return system_; }
  [[nodiscard]] const PoolLimits& wall() const {
    return *pool_limits_;
  }  // between begin() and end()

 private:
  [[nodiscard]] monitor::Bounds bounds() const override;
  void on_notice(const std::string& text) override { observer_.on_notice(text); }
  void on_disk_news(const policy::DiskNews& news) override { observer_.on_disk_news(news); }
  void on_stall(Duration stalled) override;

  void on_event(const policy::Event& event) override;
  void on_job_over(const policy::JobOver& over) override;
  void on_learnt(const policy::AttemptSummary& attempt) override;

  RunHost& host_;
  Bytes reserve_, line_;  // as configured
  double cores_;
  std::vector<policy::DiskFloor> disks_;
  HostSchedulerObserver& observer_;
  SystemRecord system_;
  policy::Scheduler scheduler_;
  HostExecutor executor_;
  policy::Executor* external_executor_ = nullptr;
  std::unique_ptr<PoolLimits> pool_limits_;
};

}  // namespace plimsoll::supervisor

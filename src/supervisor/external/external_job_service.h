#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/loop/loop.h"
#include "base/loop/worker.h"
#include "supervisor/external/external_jobs.h"
#include "supervisor/external/process_signals.h"
#include "supervisor/external/process_snapshot.h"
#include "supervisor/host_scheduler.h"
#include "supervisor/supervisor.h"

namespace plimsoll::supervisor {

// What ExternalJobService needs of whoever numbers all jobs of a host scheduler and counts their
// ends.
class ExternalJobsOwner {
 public:
  virtual ~ExternalJobsOwner() = default;
  // The number of a new job, which no other has had.
  virtual JobId next_job_id() = 0;
  // An external job has ended for good; within a call of the service's, which must not be called.
  virtual void external_ended(const report::JobReport& report) = 0;
};

// ExternalJobs as part of a host scheduler: what they ask for goes to the host scheduler, what the
// host scheduler decides about them comes back. Their places are looked at in rounds; what has to
// be read of all processes for that is read on a thread of its own, which may hang: then looks go
// on, and show what was read last.
class ExternalJobService : public JobOwner, private ExternalJobsHost {
 public:
  // All must outlive this. Before the host scheduler's first external job.
  ExternalJobService(Supervisor& supervisor, HostScheduler& host_scheduler,
                     ExternalJobsOwner& owner);

  [[nodiscard]] ExternalJobs& external_jobs() { return external_jobs_; }
  [[nodiscard]] const ExternalJobs& external_jobs() const { return external_jobs_; }

  Prepared prepare(const policy::Start& start) override;
  void on_event(const policy::Event& event) override;
  void on_job_over(const policy::JobOver& over) override { external_jobs_.on_job_over(over); }
  void on_gone(const AttemptGone& /*gone*/) override {}
  void on_stuck(AttemptKey /*key*/, const reap::Stuck& /*stuck*/) override {}

 private:
  [[nodiscard]] Instant now() const override { return host_scheduler_.executor().now(); }
  [[nodiscard]] JobId next_id() override { return owner_.next_job_id(); }
  void enter(const policy::JobSpec& job) override;
  void on_sampled(JobId job, const policy::JobSample& sample) override;
  void on_attempt_over(JobId job, const policy::AttemptEnd& end) override;
  void withdraw(JobId job, const std::string& reason) override;
  void cancel(JobId job, const std::string& reason) override;
  Result<std::unique_ptr<ExternalProcessSet>> open_place(const ExternalLocation& place,
                                                         const Peer& peer) override;
  void on_ended(const report::JobReport& report) override { owner_.external_ended(report); }

  enum class Round : std::uint8_t { due, reading, looking };

  void go_on();
  [[nodiscard]] MeasuredGroups measured_groups() const;
  void begin_reading();
  void look();

  Supervisor& supervisor_;
  HostScheduler& host_scheduler_;
  ExternalJobsOwner& owner_;
  std::shared_ptr<ProcessSnapshot> processes_;  // of all places; from the first one on
  ProcessSignals signals_;
  ExternalJobs external_jobs_;
  Round round_ = Round::due;
  bool is_reading_ = false;
  Duration cost_{};  // CPU time of the round that is under way
  loop::Timer timer_;
  // What is posted finds nobody when this is gone.
  std::shared_ptr<ExternalJobService*> self_ = std::make_shared<ExternalJobService*>(this);
  loop::Worker reader_;  // the first to end
};

}  // namespace plimsoll::supervisor

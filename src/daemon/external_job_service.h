#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/loop/loop.h"
#include "base/loop/worker.h"
#include "daemon/jobs/job_runner.h"
#include "daemon/jobs/reporter.h"
#include "supervisor/external/external_jobs.h"
#include "supervisor/external/process_signals.h"
#include "supervisor/external/process_snapshot.h"
#include "supervisor/host_scheduler.h"
#include "supervisor/supervisor.h"

namespace plimsoll::daemon {

// ExternalJobs as part of a host scheduler: what they ask for goes to the host scheduler, what the
// host scheduler decides about them comes back. Their places are looked at in rounds; what has to
// be read of all processes for that is read on a thread of its own, which may hang: then looks go
// on, and show what was read last.
class ExternalJobService : public supervisor::JobOwner, private supervisor::ExternalJobsHost {
 public:
  // All must outlive this. Before the host scheduler's first external job.
  ExternalJobService(supervisor::Supervisor& supervisor, supervisor::HostScheduler& host_scheduler,
                     JobRunner& jobs, Reporter& reporter);

  [[nodiscard]] supervisor::ExternalJobs& external_jobs() { return external_jobs_; }
  [[nodiscard]] const supervisor::ExternalJobs& external_jobs() const { return external_jobs_; }

  supervisor::Prepared prepare(const policy::Start& start) override;
  void on_event(const policy::Event& event) override;
  void on_job_over(const policy::JobOver& over) override { external_jobs_.on_job_over(over); }
  void on_gone(const supervisor::AttemptGone& /*gone*/) override {}
  void on_stuck(supervisor::AttemptKey /*key*/, const reap::Stuck& /*stuck*/) override {}

 private:
  [[nodiscard]] Instant now() const override { return host_scheduler_.executor().now(); }
  [[nodiscard]] JobId next_id() override { return jobs_.next_id(); }
  void enter(const policy::JobSpec& job) override;
  void on_sampled(JobId job, const policy::JobSample& sample) override;
  void on_attempt_over(JobId job, const policy::AttemptEnd& end) override;
  void withdraw(JobId job, const std::string& reason) override;
  void cancel(JobId job, const std::string& reason) override;
  Result<std::unique_ptr<supervisor::ExternalProcessSet>> open_place(
      const supervisor::ExternalLocation& place, const supervisor::Peer& peer) override;
  void on_ended(const report::JobReport& report) override { reporter_.ended(report); }

  enum class Round : std::uint8_t { due, reading, looking };

  void go_on();
  void begin_reading();
  void look();

  supervisor::Supervisor& supervisor_;
  supervisor::HostScheduler& host_scheduler_;
  JobRunner& jobs_;
  Reporter& reporter_;
  std::shared_ptr<supervisor::ProcessSnapshot> processes_;  // of all places; from the first one on
  supervisor::ProcessSignals signals_;
  supervisor::ExternalJobs external_jobs_;
  Round round_ = Round::due;
  bool is_reading_ = false;
  Duration cost_{};  // CPU time of the round that is under way
  loop::Timer timer_;
  // What is posted finds nobody when this is gone.
  std::shared_ptr<ExternalJobService*> self_ = std::make_shared<ExternalJobService*>(this);
  loop::Worker reader_;  // the first to end
};

}  // namespace plimsoll::daemon

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "supervisor/external/external_jobs.h"
#include "supervisor/external/process_snapshot.h"
#include "supervisor/host_scheduler.h"
#include "supervisor/supervisor.h"

namespace plimsoll::daemon {

// ExternalJobs as part of a host scheduler: what they ask for goes to the host scheduler, what the
// host scheduler decides about them comes back.
class ExternalJobService : public supervisor::JobOwner, private supervisor::ExternalJobsHost {
 public:
  // All must outlive this; `next_id` gives numbers that are new to the host scheduler. Before the
  // host scheduler's first external job.
  ExternalJobService(supervisor::Supervisor& supervisor, supervisor::HostScheduler& host_scheduler,
                     std::function<JobId()> next_id,
                     std::function<void(const report::JobReport&)> ended);

  [[nodiscard]] supervisor::ExternalJobs& external_jobs() { return external_jobs_; }
  [[nodiscard]] const supervisor::ExternalJobs& external_jobs() const { return external_jobs_; }

  supervisor::Prepared prepare(const policy::Start& start) override;
  void on_event(const policy::Event& event) override { external_jobs_.on_event(event); }
  void on_job_over(const policy::JobOver& over) override { external_jobs_.on_job_over(over); }
  void on_gone(const supervisor::AttemptGone& /*gone*/) override {}
  void on_stuck(supervisor::AttemptKey /*key*/, const reap::Stuck& /*stuck*/) override {}

 private:
  [[nodiscard]] Instant now() const override { return host_scheduler_.executor().now(); }
  [[nodiscard]] JobId next_id() override { return next_id_(); }
  void enter(const policy::JobSpec& job) override;
  void on_sampled(JobId job, const policy::JobSample& sample) override;
  void on_over(JobId job, const policy::AttemptEnd& end) override;
  void withdraw(JobId job, const std::string& reason) override;
  void cancel(JobId job, const std::string& reason) override;
  Result<std::unique_ptr<supervisor::ExternalProcessSet>> open_place(
      const supervisor::ExternalLocation& place, const supervisor::Peer& peer) override;
  void on_ended(const report::JobReport& report) override { ended_(report); }

  supervisor::Supervisor& supervisor_;
  supervisor::HostScheduler& host_scheduler_;
  std::function<JobId()> next_id_;
  std::function<void(const report::JobReport&)> ended_;
  std::shared_ptr<supervisor::ProcessSnapshot> processes_;  // of all places; from the first one on
  supervisor::ExternalJobs external_jobs_;
};

}  // namespace plimsoll::daemon

#pragma once

#include <cstdint>

#include "daemon/jobs/job_runner.h"
#include "supervisor/supervisor.h"

namespace plimsoll::daemon {

// The jobs of this machine's host scheduler.
class HostJobs : public JobRunner {
 public:
  // Both must outlive this.
  HostJobs(const supervisor::Supervisor& supervisor, supervisor::HostScheduler& host_scheduler)
      : supervisor_(supervisor), host_scheduler_(host_scheduler) {}

  JobId next_id() override { return JobId{++last_}; }
  void enter(const policy::JobSpec& job, supervisor::JobOwner& owner) override;
  [[nodiscard]] policy::JobSpec within_reach(const policy::JobSpec& job) const override;
  Result<void> kill(JobId job, const std::string& reason) override;
  Result<void> withdraw(JobId job, const std::string& reason) override;
  Result<void> pause(JobId job) override;
  Result<void> resume(JobId job) override;
  Result<void> signal(JobId job, int number, std::uint32_t asker) override;
  [[nodiscard]] const std::optional<policy::Holding>& holding() const override;
  [[nodiscard]] policy::SchedulerStatus status() const override;
  [[nodiscard]] report::HostInfo host() const override;

 private:
  const supervisor::Supervisor& supervisor_;
  supervisor::HostScheduler& host_scheduler_;
  std::uint64_t last_ = 0;
};

}  // namespace plimsoll::daemon

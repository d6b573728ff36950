#include "daemon/jobs/host_jobs.h"

#include "supervisor/host.h"

namespace plimsoll::daemon {

void HostJobs::enter(const policy::JobSpec& job, supervisor::JobOwner& owner) {
  host_scheduler_.enter(job, owner);
}

policy::JobSpec HostJobs::within_reach(const policy::JobSpec& job) const {
  return host_scheduler_.within_reach(job);
}

Result<void> HostJobs::kill(JobId job, const std::string& reason) {
  return host_scheduler_.scheduler().kill(job, reason);
}

Result<void> HostJobs::withdraw(JobId job, const std::string& reason) {
  return host_scheduler_.scheduler().withdraw(job, reason);
}

Result<void> HostJobs::pause(JobId job) { return host_scheduler_.scheduler().pause(job); }
Result<void> HostJobs::resume(JobId job) { return host_scheduler_.scheduler().resume(job); }

Result<void> HostJobs::signal(JobId job, int number, std::uint32_t asker) {
  return host_scheduler_.signal(job, number, asker);
}

const std::optional<policy::Holding>& HostJobs::holding() const {
  return host_scheduler_.scheduler().holding();
}

policy::SchedulerStatus HostJobs::status() const { return host_scheduler_.scheduler().status(); }

report::HostInfo HostJobs::host() const { return supervisor::describe_host(supervisor_); }

}  // namespace plimsoll::daemon

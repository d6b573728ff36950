#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "policy/job/job.h"
#include "policy/scheduler/scheduler.h"
#include "report/report.h"
#include "supervisor/host_scheduler.h"

namespace plimsoll::daemon {

// Who runs the jobs of the daemon's services: what they need of the host scheduler, and no more.
// HostJobs has the real one; tests have a small world of their own. Of the loop's thread.
class JobRunner {
 public:
  virtual ~JobRunner() = default;

  // The number of a new job, which no other has had.
  virtual JobId next_id() = 0;
  // A new job, which may start before this returns. `owner` must outlive it.
  virtual void enter(const policy::JobSpec& job, supervisor::JobOwner& owner) = 0;
  // The job with hints that the whole machine could follow, for jobs of users who do not know it.
  [[nodiscard]] virtual policy::JobSpec within_reach(const policy::JobSpec& job) const = 0;

  // Of a job that runs, or that waits; an error says that it does not. The owner is told what
  // becomes of it: of a withdrawal before the call returns.
  virtual Result<void> kill(JobId job, const std::string& reason) = 0;
  virtual Result<void> withdraw(JobId job, const std::string& reason) = 0;
  // Of a job that runs.
  virtual Result<void> pause(JobId job) = 0;
  virtual Result<void> resume(JobId job) = 0;
  // To the main process of a job, as HostExecutor::signal(); nothing happens if there is none.
  virtual Result<void> signal(JobId job, int number, std::uint32_t asker) = 0;

  // Why the next job that could run waits; nothing: it would start, or none is there.
  [[nodiscard]] virtual const std::optional<policy::Holding>& holding() const = 0;
  [[nodiscard]] virtual policy::SchedulerStatus status() const = 0;
  // Where the jobs run, as reports name it.
  [[nodiscard]] virtual report::HostInfo host() const = 0;
};

}  // namespace plimsoll::daemon

#pragma once

#include "base/loop/loop.h"
#include "policy/job/job.h"
#include "policy/scheduler/scheduler.h"
#include "supervisor/processes/small_processes.h"

namespace plimsoll::supervisor {

// Which commands of jobs run where they are, without waiting: those that are known to be small.
// They count in their jobs, also when they have grown.
class SmallCommands : private SmallProcessesObserver {
 public:
  // Both must outlive this.
  SmallCommands(loop::Loop& loop, const policy::Scheduler& scheduler);

  // Whether the command does, which this process is about to execute.
  [[nodiscard]] bool passes(const policy::JobSpec& command, int pid);

 private:
  void on_small_ended(JobId /*process*/) override {}
  void on_grown(SmallProcess /*process*/) override {}

  const policy::Scheduler& scheduler_;
  SmallProcesses running_;
};

}  // namespace plimsoll::supervisor

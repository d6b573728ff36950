#pragma once

#include <memory>
#include <span>

#include "policy/estimator/estimator.h"
#include "policy/scheduler/scheduler.h"
#include "sim/curves.h"
#include "sim/simulated_executor.h"

// The scheduler, as it runs real machines, on a simulated one.
namespace plimsoll::sim {

// What an attempt that runs this curve to its end, with the machine to itself, teaches.
[[nodiscard]] policy::AttemptSummary attempt_summary_of(const SimJob& job);

struct SimulatedRun {
  MachineConfig machine;
  // What was learnt before, in this order; empty: nothing is known.
  std::span<const policy::AttemptSummary> learnt{};
  policy::SchedulerListener* listener = nullptr;  // nobody listens
};

// Runs `jobs` on `executor`, which the caller runs with it; both must outlive it. All jobs have
// been entered and the first have started.
class SimulatedScheduler final : public policy::ExecutorObserver {
 public:
  SimulatedScheduler(const SimulatedRun& run, std::span<const SimJob> jobs,
                     SimulatedExecutor& executor);

  void on_job(JobId job, const policy::JobSample& sample) override;
  void on_last_look(JobId job, const policy::JobSample& sample) override;
  void on_machine(const policy::MachineSample& sample) override;
  void on_over(JobId job, const policy::AttemptEnd& end) override;
  void on_wake() override;

  [[nodiscard]] policy::Scheduler& scheduler() { return *scheduler_; }

 private:
  policy::Estimator estimator_;
  std::unique_ptr<policy::Scheduler> scheduler_;
};

}  // namespace plimsoll::sim

#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>

#include "base/units.h"
#include "policy/scheduler/executor.h"
#include "sim/backlog.h"
#include "sim/curves.h"
#include "sim/simulated_executor.h"

// Policies to compare with, each as simple as what people use today. All begin by themselves when
// the executor runs; executor and jobs must outlive them.
namespace plimsoll::sim {

// `fixed:N`: N jobs at a time, whatever they use. What the kernel kills starts again at once,
// before all others.
class FixedJobs final : public policy::ExecutorObserver {
 public:
  FixedJobs(SimulatedExecutor& executor, std::span<const SimJob> jobs, std::size_t jobs_max);

  void on_job(JobId, const policy::JobSample&) override {}
  void on_machine(const policy::MachineSample&) override {}
  void on_over(JobId job, const policy::AttemptEnd& end) override;
  void on_wake() override { start_what_may(); }

 private:
  void start_what_may();

  SimulatedExecutor& executor_;
  Backlog backlog_;
  std::size_t jobs_max_;
  std::size_t running_ = 0;
};

// `memfree:SIZE`, the rule of GNU parallel's --memfree (20221122): a job starts only while at least
// SIZE of memory is free; when less than half of SIZE is, the youngest is killed, looked again, and
// so on; what was killed goes back to the front of the queue. At most one job per core, as parallel
// has it unless told otherwise. Free is the line less what is used.
class FreeMemory final : public policy::ExecutorObserver {
 public:
  FreeMemory(SimulatedExecutor& executor, std::span<const SimJob> jobs, Bytes line, Bytes free_min,
             std::size_t jobs_max);

  void on_job(JobId, const policy::JobSample&) override {}
  void on_machine(const policy::MachineSample&) override {}
  void on_over(JobId job, const policy::AttemptEnd& end) override;
  void on_wake() override;

 private:
  SimulatedExecutor& executor_;
  Backlog backlog_;
  Bytes line_, free_min_;
  std::size_t jobs_max_;
  std::set<std::size_t> running_;      // the youngest last: parallel goes by sequence number
  std::optional<std::size_t> killed_;  // it waits until that one is dead
  Duration pause_;                     // until it looks again
};

}  // namespace plimsoll::sim

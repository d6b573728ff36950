#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/units.h"
#include "policy/scheduler/executor.h"
#include "sim/backlog.h"
#include "sim/curves.h"
#include "sim/simulated_executor.h"

namespace plimsoll::sim {

// Policies to compare with, each as simple as what people use today. All begin by themselves when
// the executor runs; executor and jobs must outlive them.

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

// `clairvoyant`: knows the true curves, and admits a job where the sum of the curves of all that
// run, from now to their ends, never passes the line. Greedy: the longest first, then whatever fits
// in between, while fewer cores are asked for than there are.
//
// `clairvoyant:class` packs with the same knowledge, but orders as if it had only the lengths of
// classes: nobody can do much better who is not told which job of a class is the long one.
//
// It plans on the shared clock of the machine, on which the curves of all jobs that use CPU keep
// their shape however many share the cores, in cells of kCell: within a cell it takes each curve at
// its highest. Executor and jobs must outlive it.
class Clairvoyant final : public policy::ExecutorObserver {
 public:
  Clairvoyant(SimulatedExecutor& executor, std::span<const SimJob> jobs, Bytes line, double cores,
              Backlog::By by);

  void on_job(JobId, const policy::JobSample&) override {}
  void on_machine(const policy::MachineSample&) override {}
  void on_over(JobId job, const policy::AttemptEnd& end) override;
  void on_wake() override { start_what_fits(); }

 private:
  // The highest memory of a curve in each cell, wherever in its first cell it begins.
  struct Outline {
    std::vector<float> mib;
    std::size_t highest = 0;  // the cell; what does not fit mostly fails there
    std::size_t begun = 0;    // the cell in which it started
  };

  [[nodiscard]] static Outline outline_of(const Curve& curve);
  [[nodiscard]] std::size_t cell_now() const;
  [[nodiscard]] bool fits(const Outline& outline, std::size_t from) const;
  void plan(Outline& outline, std::size_t from);
  void forget(const Outline& outline);
  void start_what_fits();

  SimulatedExecutor& executor_;
  std::span<const SimJob> jobs_;
  Backlog backlog_;
  double line_mib_;
  double cores_;
  std::vector<Outline> outlines_;
  std::vector<double> planned_;  // MiB in each cell, from the beginning of time
};

}  // namespace plimsoll::sim

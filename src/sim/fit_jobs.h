#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "base/units.h"
#include "policy/scheduler/executor.h"
#include "sim/backlog.h"
#include "sim/curves.h"
#include "sim/simulated_executor.h"

namespace plimsoll::sim {

// `fit:RULE`: knows of each job its peak and its mean cores, and takes both for what it needs from
// its start to its end: what packs boxes does no better with boxes. It starts, as long as one fits,
// the job that the rule picks among those of the highest priority that fit. Nobody has a place kept
// for him, so that a large one may wait until little else is left.
//
// A job that wants more cores on average than there are counts with all of them. Executor and jobs
// must outlive it.
class FitJobs final : public policy::ExecutorObserver {
 public:
  enum class Rule : std::uint8_t {
    best,   // whoever leaves least: memory and cores as shares of the machine's, added
    first,  // the first as they came
    dot,    // whose demand is most like what is free: the product of the two, as vectors of shares
  };

  FitJobs(SimulatedExecutor& executor, std::span<const SimJob> jobs, Bytes line, double cores,
          Rule rule);

  void on_job(JobId, const policy::JobSample&) override {}
  void on_machine(const policy::MachineSample&) override {}
  void on_over(JobId job, const policy::AttemptEnd& end) override;
  void on_wake() override { start_what_fits(); }

 private:
  // Of the whole machine.
  struct Shares {
    double memory = 0;
    double cores = 0;
  };

  [[nodiscard]] Shares free() const;
  [[nodiscard]] double score(const Shares& free, const Shares& box) const;
  void start_what_fits();

  SimulatedExecutor& executor_;
  std::span<const SimJob> jobs_;
  Backlog backlog_;
  Rule rule_;
  std::vector<Shares> boxes_;  // of each job
  std::set<std::size_t> running_;
};

}  // namespace plimsoll::sim

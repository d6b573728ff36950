#pragma once

#include <memory>
#include <span>

#include "policy/estimator/estimator.h"
#include "policy/scheduler/conductor.h"
#include "sim/curves.h"
#include "sim/machine.h"

// The conductor, as it runs real machines, on a simulated one.
namespace plimsoll::sim {

// What an attempt that runs this curve to its end, with the machine to itself, teaches.
[[nodiscard]] policy::Experience experience_of(const SimJob& job);

struct SimulatedRun {
  MachineConfig machine;
  // What was learnt before, in this order; empty: nothing is known.
  std::span<const policy::Experience> learnt{};
  policy::ConductorListener listener{};
};

// Conducts `jobs` on `world`, which the caller runs with it; both must outlive it. All jobs have
// been entered and the first have started.
class SimulatedConductor final : public policy::WorldObserver {
 public:
  SimulatedConductor(const SimulatedRun& run, std::span<const SimJob> jobs, SimulatedWorld& world);

  void on_job(JobId job, const policy::JobSample& sample) override;
  void on_machine(const policy::MachineSample& sample) override;
  void on_over(JobId job, const policy::AttemptEnd& end) override;
  void on_wake() override;

  [[nodiscard]] policy::Conductor& conductor() { return *conductor_; }

 private:
  policy::Estimator estimator_;
  std::unique_ptr<policy::Conductor> conductor_;
};

}  // namespace plimsoll::sim

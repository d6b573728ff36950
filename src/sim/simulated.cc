#include "sim/simulated.h"

#include <cmath>
#include <limits>

namespace plimsoll::sim {
namespace {

constexpr double kMib = 1 << 20;

Bytes bytes_of(double mib) { return to_bytes(mib * kMib); }

Duration duration_of(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

policy::ConductorConfig config_of(const MachineConfig& machine) {
  policy::ConductorConfig config;
  config.queue.jobs_max = std::numeric_limits<unsigned>::max();
  config.governor = {.line = machine.line,
                     .cores = machine.cores,
                     .jobs_max = config.queue.jobs_max,
                     .may_evict = true,
                     .may_pause = true,
                     .has_swap = machine.swap > Bytes{},
                     .reserve = reserve_of(machine.line)};
  return config;
}

}  // namespace

policy::Experience experience_of(const SimJob& job) {
  const double seconds = job.curve.seconds();
  // Of another run of its class: the names of a trace are no commands that would be known again.
  policy::Key key = policy::key_of(job.spec);
  key.command = 0;
  policy::Experience experience{
      .key = std::move(key), .peak = bytes_of(job.curve.peak_mib()), .ran = duration_of(seconds)};
  if (seconds > 0) experience.cores = job.curve.cpu_seconds() / seconds;
  std::vector<policy::CurvePoint> course;
  for (const CurvePoint& point : job.curve.points()) {
    course.push_back(
        {.at = duration_of(point.seconds), .used = bytes_of(static_cast<double>(point.mib))});
  }
  experience.curve = policy::thin(std::move(course));
  return experience;
}

SimulatedConductor::SimulatedConductor(const SimulatedRun& run, std::span<const SimJob> jobs,
                                       SimulatedWorld& world) {
  for (const policy::Experience& experience : run.learnt) estimator_.learn(experience);
  conductor_ =
      std::make_unique<policy::Conductor>(config_of(run.machine), estimator_, run.listener);
  for (const SimJob& job : jobs) conductor_->enter(job.spec);
  conductor_->begin(world);
}

void SimulatedConductor::on_job(JobId job, const policy::JobSample& sample) {
  conductor_->on_job(job, sample);
}
void SimulatedConductor::on_machine(const policy::MachineSample& sample) {
  conductor_->on_machine(sample);
}
void SimulatedConductor::on_over(JobId job, const policy::AttemptEnd& end) {
  conductor_->on_over(job, end);
}
void SimulatedConductor::on_wake() { conductor_->on_wake(); }

}  // namespace plimsoll::sim

#include "sim/simulated_scheduler.h"

#include <cmath>
#include <limits>

namespace plimsoll::sim {
namespace {

constexpr double kMib = 1 << 20;

Bytes bytes_of(double mib) { return to_bytes(mib * kMib); }

Duration duration_of(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

policy::SchedulerConfig config_of(const MachineConfig& machine) {
  policy::SchedulerConfig config;
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

policy::AttemptSummary attempt_summary_of(const SimJob& job) {
  const double seconds = job.curve.seconds();
  // Of another run of its class: the names of a trace are no commands that would be known again.
  policy::Key key = policy::key_of(job.spec);
  key.command = 0;
  policy::AttemptSummary attempt_summary{
      .key = std::move(key), .peak = bytes_of(job.curve.peak_mib()), .ran = duration_of(seconds)};
  if (seconds > 0) attempt_summary.cores = job.curve.cpu_seconds() / seconds;
  std::vector<policy::CurvePoint> course;
  for (const CurvePoint& point : job.curve.points()) {
    course.push_back(
        {.at = duration_of(point.seconds), .used = bytes_of(static_cast<double>(point.mib))});
  }
  attempt_summary.curve = policy::thin(std::move(course));
  return attempt_summary;
}

SimulatedScheduler::SimulatedScheduler(const SimulatedRun& run, std::span<const SimJob> jobs,
                                       SimulatedExecutor& executor) {
  for (const policy::AttemptSummary& attempt_summary : run.learnt)
    estimator_.learn(attempt_summary);
  scheduler_ =
      std::make_unique<policy::Scheduler>(config_of(run.machine), estimator_, run.listener);
  for (const SimJob& job : jobs) scheduler_->enter(job.spec);
  scheduler_->begin(executor);
}

void SimulatedScheduler::on_job(JobId job, const policy::JobSample& sample) {
  scheduler_->on_job(job, sample);
}
void SimulatedScheduler::on_last_look(JobId job, const policy::JobSample& sample) {
  scheduler_->on_last_look(job, sample);
}
void SimulatedScheduler::on_machine(const policy::MachineSample& sample) {
  scheduler_->on_machine(sample);
}
void SimulatedScheduler::on_over(JobId job, const policy::AttemptEnd& end) {
  scheduler_->on_over(job, end);
}
void SimulatedScheduler::on_wake() { scheduler_->on_wake(); }

}  // namespace plimsoll::sim

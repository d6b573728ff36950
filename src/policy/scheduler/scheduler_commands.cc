#include "policy/scheduler/scheduler.h"
#include "policy/scheduler/scheduler_state.h"

// What the scheduler's owner calls, and what it shows.
namespace plimsoll::policy {

Scheduler::Scheduler(SchedulerConfig config, Estimator& estimator, SchedulerListener listener)
    : state_(std::make_unique<State>(std::move(config), estimator, std::move(listener))) {}
Scheduler::~Scheduler() = default;

void Scheduler::enter(const JobSpec& job, std::optional<Bytes> input) { state_->enter(job, input); }
void Scheduler::begin(Executor& executor) { state_->begin(executor); }
bool Scheduler::is_over() const { return state_->is_over(); }

void Scheduler::on_job(JobId job, const JobSample& sample) { state_->on_job(job, sample); }
void Scheduler::on_machine(const MachineSample& sample) { state_->on_machine(sample); }
void Scheduler::on_over(JobId job, const AttemptEnd& end) { state_->on_over(job, end); }
void Scheduler::on_alarm(const Alarm& alarm) { state_->on_alarm(alarm); }
void Scheduler::on_wake() { state_->on_wake(); }

void Scheduler::interrupt() {
  state_->queue_.interrupt();
  state_->turn();
}
bool Scheduler::is_stopping() const { return state_->queue_.is_stopping(); }
const std::optional<Halted>& Scheduler::halted() const { return state_->queue_.halted(); }

Result<void> Scheduler::pause(JobId job) {
  if (auto found = state_->running(job); !found) return pass(std::move(found));
  state_->governor_.pause(job, state_->executor_->now());
  state_->turn();
  return {};
}

Result<void> Scheduler::resume(JobId job) {
  if (auto found = state_->running(job); !found) return pass(std::move(found));
  state_->governor_.resume(job, state_->executor_->now());
  state_->turn();
  return {};
}

Result<void> Scheduler::kill(JobId job, const std::string& reason) {
  return state_->kill(job, reason);
}

Result<void> Scheduler::withdraw(JobId job, const std::string& reason) {
  return state_->withdraw(job, reason);
}

const std::optional<Holding>& Scheduler::holding() const { return state_->governor_.holding(); }

void Scheduler::set_share(const Share& share, std::string reason) {
  state_->set_share(share, std::move(reason));
}

void Scheduler::set_line(Bytes line, std::string reason) {
  state_->set_share({.line = line, .cores = state_->governor_.cores()}, std::move(reason));
}

void Scheduler::set_jobs_max(unsigned jobs_max) {
  state_->queue_.set_jobs_max(jobs_max);
  state_->governor_.set_jobs_max(jobs_max);
  state_->turn();
}

Bytes Scheduler::line() const { return state_->governor_.config().line; }

SchedulerStatus Scheduler::status() const { return state_->status(); }
const Counts& Scheduler::counts() const { return state_->counts_; }
const Calibration& Scheduler::calibration() const { return state_->calibration_; }

}  // namespace plimsoll::policy

#include "policy/scheduler/conductor.h"
#include "policy/scheduler/conductor_state.h"

// What the conductor's owner calls, and what it shows.
namespace plimsoll::policy {

Conductor::Conductor(ConductorConfig config, Estimator& estimator, ConductorListener listener)
    : state_(std::make_unique<State>(std::move(config), estimator, std::move(listener))) {}
Conductor::~Conductor() = default;

void Conductor::enter(const JobSpec& job, std::optional<Bytes> input) { state_->enter(job, input); }
void Conductor::begin(World& world) { state_->begin(world); }
bool Conductor::is_over() const { return state_->is_over(); }

void Conductor::on_job(JobId job, const JobSample& sample) { state_->on_job(job, sample); }
void Conductor::on_machine(const MachineSample& sample) { state_->on_machine(sample); }
void Conductor::on_over(JobId job, const AttemptEnd& end) { state_->on_over(job, end); }
void Conductor::on_alarm(const Alarm& alarm) { state_->on_alarm(alarm); }
void Conductor::on_wake() { state_->on_wake(); }

void Conductor::interrupt() {
  state_->queue_.interrupt();
  state_->turn();
}
bool Conductor::is_stopping() const { return state_->queue_.is_stopping(); }
const std::optional<Halted>& Conductor::halted() const { return state_->queue_.halted(); }

Result<void> Conductor::pause(JobId job) {
  if (auto found = state_->running(job); !found) return pass(std::move(found));
  state_->governor_.pause(job, state_->world_->now());
  state_->turn();
  return {};
}

Result<void> Conductor::resume(JobId job) {
  if (auto found = state_->running(job); !found) return pass(std::move(found));
  state_->governor_.resume(job, state_->world_->now());
  state_->turn();
  return {};
}

Result<void> Conductor::kill(JobId job, const std::string& reason) {
  return state_->kill(job, reason);
}

Result<void> Conductor::withdraw(JobId job, const std::string& reason) {
  return state_->withdraw(job, reason);
}

const std::optional<Holding>& Conductor::holding() const { return state_->governor_.holding(); }

void Conductor::set_share(const Share& share, std::string reason) {
  state_->set_share(share, std::move(reason));
}

void Conductor::set_line(Bytes line, std::string reason) {
  state_->set_share({.line = line, .cores = state_->governor_.cores()}, std::move(reason));
}

void Conductor::set_jobs_max(unsigned jobs_max) {
  state_->queue_.set_jobs_max(jobs_max);
  state_->governor_.set_jobs_max(jobs_max);
  state_->turn();
}

Bytes Conductor::line() const { return state_->governor_.config().line; }

ConductorStatus Conductor::status() const { return state_->status(); }
const Counts& Conductor::counts() const { return state_->counts_; }
const Calibration& Conductor::calibration() const { return state_->calibration_; }

}  // namespace plimsoll::policy

#include <utility>

#include "base/check.h"
#include "supervisor/external/external_jobs.h"
#include "supervisor/external/external_jobs_state.h"

// What the scheduler decides about external jobs, as it is told to their clients and done at their
// places.
namespace plimsoll::supervisor {

report::JobReport ExternalJobs::report_of(const ExternalJob& external_job,
                                          const policy::JobOver& over) {
  report::JobReport report;
  report.id = external_job.spec.name;
  report.job_class =
      external_job.spec.job_class.empty() ? kExternalClass : external_job.spec.job_class;
  report.outcome = external_job.attempts.empty() ? policy::Outcome::skipped
                                                 : external_job.attempts.back().outcome;
  if (over.end) {
    report.exit_code = over.end->exit_code;
    report.signal = over.end->signal;
  }
  report.reason = over.reason;
  report.attempts = external_job.attempts;
  return report;
}

void ExternalJobs::start(const policy::Start& start) {
  ExternalJob& external_job = *known(start.job);
  PLIMSOLL_CHECK(external_job.state == ExternalJob::State::waiting);
  external_job.state = ExternalJob::State::running;
  external_job.watch.emplace(now());
  external_job.admitted_with = start.admitted_with;
  ++running_;
  if (external_job.process_set) settle_place(external_job);
  const ExternalListener& told = clients_.at(external_job.client).listener;
  if (told.admit) told.admit(external_job.spec.name, start.attempt, external_job.why);
}

void ExternalJobs::freeze(JobId job) {
  ExternalJob* external_job = known(job);
  if (external_job == nullptr || external_job->state != ExternalJob::State::running) return;
  external_job->watch->stop(now());
  if (external_job->process_set && external_job->spec.hand == ControlledBy::governor)
    external_job->process_set->freeze();
  const ExternalListener& told = clients_.at(external_job->client).listener;
  if (told.pause) told.pause(external_job->spec.name, external_job->why);
}

void ExternalJobs::thaw(JobId job) {
  ExternalJob* external_job = known(job);
  if (external_job == nullptr || external_job->state != ExternalJob::State::running) return;
  external_job->watch->go_on(now());
  if (external_job->process_set && external_job->spec.hand == ControlledBy::governor)
    external_job->process_set->thaw();
  const ExternalListener& told = clients_.at(external_job->client).listener;
  if (told.resume) told.resume(external_job->spec.name, external_job->why);
}

// Memory of others is not ours to push out.
void ExternalJobs::reclaim(std::optional<JobId> /*job*/, Bytes /*amount*/) {}

void ExternalJobs::kill(JobId job, policy::Outcome cause, std::string reason) {
  ExternalJob* external_job = known(job);
  if (external_job == nullptr || external_job->state != ExternalJob::State::running) return;
  external_job->state = ExternalJob::State::cancelled;
  external_job->dying = cause;
  external_job->cancelled_at = now();
  if (external_job->process_set && external_job->spec.hand == ControlledBy::governor)
    external_job->process_set->kill(now());
  const Again again = cause == policy::Outcome::evicted && external_job->spec.restartable
                          ? Again::later
                          : Again::never;
  const ExternalListener& told = clients_.at(external_job->client).listener;
  if (told.cancel) told.cancel(external_job->spec.name, cause, reason, again);
}

void ExternalJobs::on_event(const policy::Event& event) {
  ExternalJob* external_job = event.job ? known(*event.job) : nullptr;
  if (external_job == nullptr) return;
  external_job->why = event.reason;
  if (event.kind != policy::EventKind::held || !event.hold) return;
  const ExternalListener& told = clients_.at(external_job->client).listener;
  if (told.hold) told.hold(external_job->spec.name, *event.hold, event.reason);
}

void ExternalJobs::on_job_over(const policy::JobOver& over) {
  ExternalJob* external_job = known(over.job);
  if (external_job == nullptr) return;
  const std::string name = external_job->spec.name;
  const ClientId owner = external_job->client;
  if (!over.requeue) {
    if (hooks_.ended) hooks_.ended(report_of(*external_job, over));
    forget(over.job);
  }
  const auto found = clients_.find(owner);
  if (found == clients_.end() || !found->second.listener.left) return;
  found->second.listener.left(name, over.requeue ? Again::later : Again::never, over.reason);
}

void ExternalJobs::forget(JobId job) {
  const auto found = external_jobs_.find(job);
  const auto owner = clients_.find(found->second->client);
  if (owner != clients_.end()) owner->second.external_jobs.erase(found->second->spec.name);
  quota_.give_back(found->second->user);
  external_jobs_.erase(found);
}

}  // namespace plimsoll::supervisor

#include <memory>
#include <string>
#include <utility>

#include "base/cases.h"
#include "policy/job/priority.h"
#include "policy/scheduler/scheduler.h"

// What the governor has decided, carried out: told, noted of the job, and handed to the executor.
namespace plimsoll::policy {

void Scheduler::carry_out(const Decision& decision) {
  const auto told = [&](EventKind kind, std::optional<JobId> job) {
    tell(kind, job, decision.reason, decision.numbers);
  };
  std::visit(
      Cases{[&](const Admit& admit) {
              told(EventKind::admitted, admit.job);
              start(admit.job);
            },
            [&](const Reclaim& reclaim) {
              ++counts_.reclaims;
              told(EventKind::reclaimed, reclaim.job);
              executor_->reclaim(reclaim.job, reclaim.amount);
            },
            [&](const Freeze& stop) {
              told(EventKind::frozen, stop.job);
              freeze(stop.job);
              jobs_.at(stop.job).attempt->paused_reason = decision.reason;
            },
            [&](const Thaw& go) {
              told(EventKind::thawed, go.job);
              thaw(go.job);
            },
            [&](const Evict& evict) {
              ++counts_.evictions;
              told(EventKind::evicted, evict.job);
              kill(evict.job, Outcome::evicted, decision.reason);
            },
            [&](const Fail& fail) {
              told(EventKind::failed, fail.job);
              kill(fail.job, Outcome::over_line, decision.reason);
            },
            [&](const Cancel& cancel) { kill(cancel.job, Outcome::cancelled, decision.reason); },
            [&](const Skip& skip) { end_unstarted({.job = skip.job, .reason = decision.reason}); },
            [&](const GiveUp& given_up) {
              end_unstarted({.job = given_up.job, .gave_up = true, .reason = decision.reason});
            }},
      decision.action);
}

void Scheduler::start(JobId job) {
  JobRecord& record = jobs_.at(job);
  kinds_.remove_waiting(record.ready.kind);
  caps_.begins(record.capped_as, job);
  Start start = queue_.start(job, now());
  record.attempt = std::make_unique<RunningAttempt>(start.attempt, now());
  RunningAttempt& attempt = *record.attempt;
  attempt.estimate = estimator_.estimate(record.key, record.facts);
  attempt.admitted_with = attempt.estimate.peak;
  start.admitted_with = to_bytes(attempt.admitted_with.mean + attempt.admitted_with.spread);
  set_deadline(job, attempt);
  Numbers numbers;
  if (const int priority = record.ready.priority; priority != 0) {
    numbers = {{"priority", static_cast<double>(priority)},
               {"weight", static_cast<double>(weight_of(priority))}};
  }
  tell(EventKind::started, job,
       "attempt " + std::to_string(start.attempt) + " in slot " + std::to_string(start.slot),
       std::move(numbers));
  executor_->start(start);
}

void Scheduler::freeze(JobId job) {
  RunningAttempt& attempt = *jobs_.at(job).attempt;
  ++counts_.pauses;
  attempt.clock.pause(now());
  set_deadline(job, attempt);
  executor_->freeze(job);
}

void Scheduler::thaw(JobId job) {
  RunningAttempt& attempt = *jobs_.at(job).attempt;
  attempt.clock.resume(now());
  set_deadline(job, attempt);
  executor_->thaw(job);
}

// The governor knows already of what it has decided itself; mark_dying() is without effect then.
void Scheduler::kill(JobId job, Outcome cause, const std::string& reason) {
  const JobRecord& record = jobs_.at(job);
  RunningAttempt& attempt = *record.attempt;
  if (attempt.is_dying) return;
  attempt.is_dying = true;
  set_deadline(job, attempt);
  governor_.mark_dying(record.ready, now());
  executor_->kill(job, cause, reason);
}

}  // namespace plimsoll::policy

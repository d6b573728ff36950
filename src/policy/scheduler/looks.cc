#include <algorithm>

#include "policy/scheduler/scheduler.h"

// What is seen of a running attempt, and what it teaches when it has ended.
namespace plimsoll::policy {

// Null: it does not run.
JobRecord* Scheduler::note(JobId job, const JobSample& sample) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || found->second.attempt == nullptr) return nullptr;
  JobRecord& record = found->second;
  RunningAttempt& attempt = *record.attempt;
  attempt.live_profile.observe(sample);
  attempt.curve.add(sample.ran, sample.used);
  attempt.written = std::max(attempt.written, sample.written);
  governor_.observe(record.ready, sample, now());
  counts_.used_peak = std::max(counts_.used_peak, governor_.used());
  return &record;
}

void Scheduler::on_last_look(JobId job, const JobSample& sample) {
  static_cast<void>(note(job, sample));
}

void Scheduler::on_job(JobId job, const JobSample& sample) {
  JobRecord* const known = note(job, sample);
  if (known == nullptr) return;
  JobRecord& record = *known;
  RunningAttempt& attempt = *record.attempt;
  if (attempt.estimate.basis != Basis::exact) {
    show(record, attempt, showing_of(attempt.live_profile));
  }
  if (attempt.has_news(sample)) {
    attempt.estimate = estimator_.estimate(record.key, record.facts, attempt.live_profile);
    attempt.estimated_ran = sample.ran;
    attempt.estimated_used = sample.used;
    tell_estimate(record);
  } else if (attempt.waits_until) {
    tell_estimate(record);
  }
  turn();
}

// What an attempt teaches whose end was not its own is only that it needs at least so much.
void Scheduler::learn(const JobRecord& job, const RunningAttempt& attempt, const AttemptEnd& end) {
  const LiveProfile& profile = attempt.live_profile;
  if (attempt.is_disregarded || was_never_executed(end) || !profile.has_samples()) return;
  const bool by_itself = ended_by_itself(end);
  if (by_itself) calibration_.add(attempt.admitted_with, profile.peak(), profile.ran());
  const Duration ran = attempt.clock.ran(now());
  if (!was_lost(end.outcome) && !job.ready.is_command) progress_.ended(to_seconds(ran));
  const auto seen = by_itself ? Seen::whole : Seen::at_least;
  const AttemptSummary summary{
      .key = job.key,
      .peak = profile.peak(),
      .peak_seen = seen,
      .ran = std::max(ran, profile.ran()),
      .ran_seen = seen,
      .cores = profile.cores_wanted(),
      .input = job.facts.input,
      .numbers = job.facts.numbers,
      .memory_hint = job.facts.memory_hint,
      .written = end.written ? std::max(attempt.written, end.written) : std::nullopt,
      .io = profile.io(),
      .io_wait = profile.io_wait(),
      .curve = attempt.curve.course()};
  estimator_.learn(summary);
  if (listener_ != nullptr) listener_->on_learnt(summary);
  if (kinds_.learnt(job.key, estimator_)) take_kinds_anew(job.key);
}

// Others of the class that wait are believed to be like it; small news of it are none.
void Scheduler::show(const JobRecord& job, RunningAttempt& attempt, const Showing& now) {
  if (attempt.is_disregarded || !is_news(attempt.showing, now)) return;
  estimator_.show(job.key, attempt.showing, now);
  attempt.showing = now;
  kinds_.shown(job.key);
}

}  // namespace plimsoll::policy

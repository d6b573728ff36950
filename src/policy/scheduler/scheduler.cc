#include "policy/scheduler/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/quantity.h"
#include "policy/estimator/numbers.h"
#include "policy/estimator/small.h"
#include "policy/job/words.h"

namespace plimsoll::policy {
namespace {

GovernorConfig governor_config(const SchedulerConfig& config) {
  GovernorConfig governor = config.governor;
  governor.jobs_max = config.queue.jobs_max;
  return governor;
}

JobFacts facts_of(const JobSpec& job) {
  return {.memory_hint = job.memory_hint,
          .cpu_hint = job.cpu_hint,
          .disk_hint = job.disk_hint,
          .input = {},
          .numbers = numbers_of(job.command),
          .reached = {},
          .memory_max = job.limits.memory_max,
          .cpus = job.limits.cpus};
}

}  // namespace

Scheduler::Scheduler(SchedulerConfig config, Estimator& estimator, SchedulerListener* listener)
    : config_(std::move(config)),
      estimator_(estimator),
      listener_(listener),
      queue_(config_.queue),
      governor_(governor_config(config_)),
      caps_(config_.governor.caps) {
  estimator_.expect_below(config_.governor.line);
}

void Scheduler::tell(EventKind kind, std::optional<JobId> job, std::string reason, Numbers numbers,
                     std::optional<HoldCause> hold) {
  if (listener_ == nullptr) return;
  listener_->on_event({.at = now(),
                       .kind = kind,
                       .job = job,
                       .reason = std::move(reason),
                       .numbers = std::move(numbers),
                       .hold = hold});
}

void Scheduler::enter(const JobSpec& job, std::optional<Bytes> input) {
  JobRecord& record = jobs_[job.id];
  record.key = key_of(job, config_.directory);
  record.facts = facts_of(job);
  record.facts.input = input;
  record.ready.job = job.id;
  record.ready.kind = kinds_.take(record.key, record.facts, estimator_, job.tenant);
  record.ready.priority = job.priority;
  record.ready.restartable = job.restartable;
  record.ready.pausable = job.pausable;
  record.ready.may_be_awaited = job.may_be_awaited;
  record.ready.tenant = job.tenant;
  if (job.cap) caps_.cap(record.key.exact, *job.cap);
  record.ready.lost = job.lost;
  if (job.part_of) command_begins(record, *job.part_of);
  queue_.enter(job);
  if (executor_ == nullptr) return;
  tell(EventKind::queued, job.id, "it was added during the run");
  turn();
}

void Scheduler::begin(Executor& executor, const std::optional<DiskSample>& disks) {
  PLIMSOLL_CHECK(executor_ == nullptr);
  executor_ = &executor;
  for (const auto& [job, record] : jobs_) untold_.push_back(job);
  std::sort(untold_.begin(), untold_.end());
  if (!share_reason_.empty()) tell_share();
  if (disks) return on_disks(*disks);
  turn();
}

void Scheduler::turn() {
  if (executor_ == nullptr) return;
  pass_deadlines();
  end_waits();
  for (const Decision& decision : queue_.settle(now())) carry_out(decision);
  for (const JobId job : queue_.take_ready()) arriving_.push_back(job);
  catch_up();
  take_kinds_anew();
  const bool is_stale = kinds_.refresh(estimator_, governor_) || !unsorted_.empty();
  // Which is to start first is known when all are there.
  const unsigned starts_max = arriving_.empty() ? queue_.room(now()) : 0;
  for (const Decision& decision : governor_.rule(now(), starts_max)) carry_out(decision);
  if (governor_.take_wish_for_looks(now())) executor_->look_soon();
  progress_.note(now(), governor_.running() - governor_.frozen(), governor_.waiting());
  if (arriving_.empty()) tell_holding();
  set_wake(is_stale ? KindsState::stale : KindsState::fresh);
}

void Scheduler::on_wake() {
  if (resume_at_ && now() >= *resume_at_) resume_at_.reset();
  turn();
}

void Scheduler::set_wake(KindsState kinds) {
  std::optional<Instant> wake = governor_.next_wake();
  const auto sooner = [&wake](Instant at) { wake = wake ? std::min(*wake, at) : at; };
  // What is due already waits for the governor, which has its own next moment.
  if (const auto next = queue_.next_wake(); next && *next > now()) sooner(*next);
  if (!deadlines_.empty()) sooner(deadlines_.begin()->first);
  if (kinds == KindsState::stale) sooner(now() + kBehindGap);
  if (resume_at_) sooner(*resume_at_);
  executor_->wake_at(wake);
}

void Scheduler::on_machine(const MachineSample& sample) {
  stall_ = sample.stall;
  governor_.tick(sample, now());
  counts_.used_peak = std::max(counts_.used_peak, governor_.used());
  turn();
}

void Scheduler::on_alarm(const std::string& reason, const Numbers& numbers) {
  if (alarmed_ && now() - *alarmed_ < kAlarmGap) return;
  alarmed_ = now();
  tell(EventKind::alarm, {}, reason, numbers);
}

void Scheduler::on_over(JobId job, const AttemptEnd& end) {
  JobRecord& record = jobs_.at(job);
  PLIMSOLL_CHECK(record.attempt != nullptr);
  const std::unique_ptr<RunningAttempt> attempt = std::move(record.attempt);
  if (attempt->deadline) deadlines_.erase({*attempt->deadline, job});
  show(record, *attempt, {});
  learn(record, *attempt, end);
  governor_.leave(record.ready, end, now());
  leave_place(record);
  std::optional<Requeue> requeue = queue_.leave(job, end, now());
  const LiveProfile& profile = attempt->live_profile;
  if (was_lost(end.outcome)) ++record.ready.lost;
  if (was_lost(end.outcome) || requeue) {
    counts_.lost_cpu += Duration(
        static_cast<std::int64_t>(profile.cores() * static_cast<double>(profile.ran().count())));
  }
  const JobOver over{.job = job,
                     .end = end,
                     .requeue = requeue,
                     .gave_up = false,
                     .reason = requeue ? requeue->reason : describe(end)};
  if (requeue) {
    if (was_lost(end.outcome)) {
      record.facts.reached = std::max(record.facts.reached.value_or(Bytes{}), profile.peak());
      const Kind smaller = record.ready.kind;
      record.ready.kind = kinds_.take(record.key, record.facts, estimator_, record.ready.tenant);
      kinds_.give_back(smaller, governor_);
    }
    tell(EventKind::requeued, job, over.reason);
  } else {
    tell(EventKind::ended, job, over.reason);
    forget(job);
  }
  if (listener_ != nullptr) listener_->on_job_over(over);
  follow_timeouts();
  turn();
}

void Scheduler::tell_holding() {
  const auto& holding = governor_.holding();
  if (!holding) {
    held_.reset();
    return;
  }
  JobRecord& job = jobs_.at(holding->job);
  if (!job.was_held) {
    job.was_held = true;
    ++counts_.holds;
  }
  const std::pair now_held(holding->job, holding->cause);
  if (held_ == now_held) return;
  held_ = now_held;
  tell(EventKind::held, holding->job, holding->reason, holding->numbers, holding->cause);
}

// Frozen time does not count, so a frozen attempt has no deadline.
void Scheduler::set_deadline(JobId job, RunningAttempt& attempt) {
  if (attempt.deadline) deadlines_.erase({*attempt.deadline, job});
  attempt.deadline.reset();
  if (attempt.is_dying || attempt.clock.is_paused()) return;
  const auto timeout = queue_.timeout_of(job);
  if (!timeout) return;
  attempt.deadline = now() + std::max(*timeout - attempt.clock.ran(now()), Duration{});
  deadlines_.emplace(*attempt.deadline, job);
}

void Scheduler::pass_deadlines() {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now()) {
    const JobId job = deadlines_.begin()->second;
    const Duration ran = jobs_.at(job).attempt->clock.ran(now());
    constexpr double kWhole = 100;
    std::string reason = "timed out after " + format_duration(ran);
    if (const auto share = queue_.median_share_of(job)) {
      reason += " (" + words::percent(share->percent / kWhole) + " of the median)";
    }
    kill(job, Outcome::timed_out, reason);
  }
}

// A median moves with every end, and the time-outs that follow it move along.
void Scheduler::follow_timeouts() {
  if (!std::holds_alternative<MedianPercent>(config_.queue.timeout)) return;
  for (auto& [job, record] : jobs_) {
    if (record.attempt != nullptr) set_deadline(job, *record.attempt);
  }
}

Result<JobRecord*> Scheduler::running(JobId job) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return fail("the job has ended or does not exist");
  if (found->second.attempt == nullptr) return fail("the job is not running");
  return &found->second;
}

Result<void> Scheduler::kill(JobId job, const std::string& reason) {
  if (auto found = running(job); !found) return pass(std::move(found));
  kill(job, Outcome::cancelled, reason);
  turn();
  return {};
}

Result<void> Scheduler::withdraw(JobId job, const std::string& reason) {
  if (!queue_.is_waiting(job)) return fail("the job is not waiting");
  queue_.withdraw(job, reason);
  turn();
  return {};
}

void Scheduler::disregard(JobId job) {
  const auto found = running(job);
  if (!found) return;
  show(**found, *(*found)->attempt, {});
  (*found)->attempt->is_disregarded = true;
}

void Scheduler::set_share(const Share& share, std::string reason) {
  const bool same = share.line == governor_.config().line && share.cores == governor_.cores();
  governor_.set_share(share);
  estimator_.expect_below(share.line);
  if (!same) share_reason_ = std::move(reason);
  if (executor_ == nullptr) return;  // begin() tells it
  if (!same) tell_share();
  turn();
}

void Scheduler::tell_share() {
  tell(EventKind::line, {}, share_reason_,
       {{"line_bytes", to_double(governor_.config().line)}, {"cores", governor_.cores()}});
}

void Scheduler::interrupt() {
  queue_.interrupt();
  turn();
}

Result<void> Scheduler::pause(JobId job) {
  auto found = running(job);
  if (!found) return pass(std::move(found));
  governor_.pause((*found)->ready, now());
  turn();
  return {};
}

Result<void> Scheduler::resume(JobId job) {
  auto found = running(job);
  if (!found) return pass(std::move(found));
  governor_.resume((*found)->ready, now());
  turn();
  return {};
}

void Scheduler::set_line(Bytes line, std::string reason) {
  set_share({.line = line, .cores = governor_.cores()}, std::move(reason));
}

void Scheduler::set_jobs_max(unsigned jobs_max) {
  queue_.set_jobs_max(jobs_max);
  governor_.set_jobs_max(jobs_max);
  turn();
}

std::optional<Bytes> Scheduler::known_small(const JobSpec& job) const {
  const Key key = key_of(job, config_.directory);
  if (caps_.of(key.exact) || caps_.of(key.tool)) return std::nullopt;
  const Estimate estimate = estimator_.estimate(key, facts_of(job));
  if (!is_small(estimate)) return std::nullopt;
  return to_bytes(estimate.peak.mean + estimate.peak.spread);
}

SchedulerStatus Scheduler::status() const {
  SchedulerStatus status{.line = line(),
                         .used = governor_.used(),
                         .estimate = {},
                         .cores = governor_.cores(),
                         .cores_wanted = governor_.cores_wanted(),
                         .stall = stall_,
                         .cores_of_others = governor_.cores_of_others(),
                         .jobs_max = governor_.config().jobs_max,
                         .running = governor_.running() - governor_.frozen(),
                         .frozen = governor_.frozen(),
                         .waiting = governor_.waiting() + caps_.aside(),
                         .sizeable = governor_.sizeable(),
                         .oldest = governor_.oldest(),
                         .unfinished = queue_.unfinished() - queue_.commands(),
                         .counts = counts_,
                         .holding = holding(),
                         .remaining = {},
                         .jobs = {},
                         .disks = governor_.disks()};
  if (executor_ == nullptr || jobs_.empty()) return status;
  status.remaining = time_left(work_left(jobs_, kinds_, estimator_, governor_, now()), progress_);
  status.jobs = job_statuses(jobs_, now());
  for (const JobStatus& job : status.jobs) {
    status.estimate += std::max(job.estimate, job.used.value_or(Bytes{}));
  }
  return status;
}

}  // namespace plimsoll::policy

#include "policy/scheduler/scheduler.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/cases.h"
#include "base/check.h"
#include "base/quantity.h"
#include "policy/estimator/numbers.h"
#include "policy/job/priority.h"
#include "policy/job/words.h"

namespace plimsoll::policy {
namespace {

// So many jobs are told of, begin to wait or end unstarted in one turn; the rest follow in the next
// turns. At some 10 us each the thread is away for 10 ms, however many there are at once.
constexpr std::size_t kJobsPerTurn = 1000;
// After so long: others of the loop have their turn in between.
constexpr Duration kBehindGap = std::chrono::milliseconds(1);

GovernorConfig governor_config(const SchedulerConfig& config) {
  GovernorConfig governor = config.governor;
  governor.jobs_max = config.queue.jobs_max;
  return governor;
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
  record.facts = {.memory_hint = job.memory_hint,
                  .cpu_hint = job.cpu_hint,
                  .disk_hint = job.disk_hint,
                  .input = input,
                  .numbers = numbers_of(job.command),
                  .reached = {},
                  .memory_max = job.limits.memory_max,
                  .cpus = job.limits.cpus};
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

// Whatever any job does comes by here: with hundreds that run, all turns together would leave
// nothing else its turn for as long as there is something to catch up with. So what is left over
// waits for a wake of its own.
void Scheduler::catch_up() {
  if (resume_at_) return;
  std::size_t left = kJobsPerTurn;
  for (; left > 0 && !untold_.empty(); --left) {
    tell(EventKind::queued, untold_.front(), {});
    untold_.pop_front();
  }
  for (; left > 0 && !arriving_.empty(); --left) {
    const JobId job = arriving_.front();
    arriving_.pop_front();
    if (queue_.is_waiting(job)) wait_for_governor(jobs_.at(job));
  }
  for (; left > 0 && !unended_.empty(); --left) {
    const JobOver over = std::move(unended_.front());
    unended_.pop_front();
    forget(over.job);
    tell(EventKind::ended, over.job, over.reason);
    if (listener_ != nullptr) listener_->on_job_over(over);
  }
  if (is_behind()) resume_at_ = now() + kBehindGap;
}

// The class, or the tool if only that has a cap: "ld" caps every way of linking.
const std::string& Scheduler::capped_as(const JobRecord& job) const {
  return caps_.of(job.key.exact) ? job.key.exact : job.key.tool;
}

void Scheduler::leave_place(JobRecord& job) {
  const std::string name = std::exchange(job.capped_as, {});
  if (name.empty()) return;
  if (const auto next = caps_.leave(name, job.ready.job)) arriving_.push_back(*next);
}

bool Scheduler::take_place(JobRecord& job) {
  if (job.capped_as.empty()) return true;
  const ClassCaps::Claim claim{.job = job.ready.job,
                               .tenant = job.ready.tenant,
                               .priority = job.ready.priority,
                               .is_command = job.ready.is_command};
  if (caps_.take(job.capped_as, claim)) return true;
  if (!job.ready.is_command) return false;
  const auto put_off = caps_.take_from_waiting(job.capped_as, claim);
  if (!put_off) return false;
  JobRecord& other = jobs_.at(*put_off);
  stop_waiting(other);
  stand_aside(other);
  return true;
}

void Scheduler::stand_aside(JobRecord& job) {
  if (!job.was_held) ++counts_.holds;
  job.was_held = true;
  const unsigned most = *caps_.of(job.capped_as);
  tell(EventKind::held, job.ready.job,
       "waits for others of its class: of \"" + job.capped_as + "\" at most " +
           std::to_string(most) + (most == 1 ? " runs" : " run") + " at once",
       {{"cap", static_cast<double>(most)}}, HoldCause::cap);
}

void Scheduler::wait_for_governor(JobRecord& job) {
  if (job.ready.waits_since) return;
  if (const std::string& name = capped_as(job); caps_.of(name)) job.capped_as = name;
  if (!take_place(job)) return stand_aside(job);
  job.was_held = false;
  enter_governor(job, now());
}

void Scheduler::enter_governor(JobRecord& job, Instant since) {
  kinds_.add_waiting(job.ready.kind);
  kinds_.refresh_now(job.ready.kind, estimator_, governor_);
  governor_.enter(job.ready, since);
}

void Scheduler::stop_waiting(JobRecord& job) {
  if (!job.ready.waits_since) return;
  kinds_.remove_waiting(job.ready.kind);
  governor_.withdraw(job.ready);
}

void Scheduler::take_kinds_anew(const Key& key) {
  for (const auto& [job, record] : jobs_) {
    const bool is_of_class = record.key.exact == key.exact && record.key.owner == key.owner;
    if (record.attempt == nullptr && is_of_class) unsorted_.push_back(job);
  }
  // From the back, so in the order of input.
  std::sort(unsorted_.begin(), unsorted_.end(), std::greater<>());
}

void Scheduler::take_kinds_anew() {
  for (std::size_t done = 0; done < kRefreshedMax && !unsorted_.empty(); ++done) {
    const JobId job = unsorted_.back();
    unsorted_.pop_back();
    const auto found = jobs_.find(job);
    if (found == jobs_.end() || found->second.attempt != nullptr) continue;
    JobRecord& record = found->second;
    const Kind before = record.ready.kind;
    const Kind kind = kinds_.take(record.key, record.facts, estimator_, record.ready.tenant);
    if (kind == before) {
      kinds_.give_back(kind, governor_);
      continue;
    }
    const auto waits_since = record.ready.waits_since;
    stop_waiting(record);
    kinds_.give_back(before, governor_);
    record.ready.kind = kind;
    if (waits_since) enter_governor(record, *waits_since);
  }
}

// The governor hears of it at once, others in their turn.
void Scheduler::end_unstarted(JobOver over) {
  JobRecord& job = jobs_.at(over.job);
  stop_waiting(job);
  leave_place(job);
  unended_.push_back(std::move(over));
}

void Scheduler::forget(JobId job) {
  const auto record = jobs_.extract(job);
  kinds_.give_back(record.mapped().ready.kind, governor_);
  if (const auto& of = record.mapped().part_of) command_ended(*of);
}

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

void Scheduler::on_job(JobId job, const JobSample& sample) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || found->second.attempt == nullptr) return;
  JobRecord& record = found->second;
  RunningAttempt& attempt = *record.attempt;
  attempt.live_profile.observe(sample);
  attempt.curve.add(sample.ran, sample.used);
  attempt.written = std::max(attempt.written, sample.written);
  if (attempt.estimate.basis != Basis::exact) {
    show(record, attempt, showing_of(attempt.live_profile));
  }
  governor_.observe(record.ready, sample, now());
  if (attempt.has_news(sample)) {
    attempt.estimate = estimator_.estimate(record.key, record.facts, attempt.live_profile);
    attempt.estimated_ran = sample.ran;
    attempt.estimated_used = sample.used;
    tell_estimate(record);
  } else if (attempt.waits_until) {
    tell_estimate(record);
  }
  counts_.used_peak = std::max(counts_.used_peak, governor_.used());
  turn();
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
                         .jobs = {}};
  if (executor_ == nullptr || jobs_.empty()) return status;
  status.remaining = time_left(work_left(jobs_, kinds_, estimator_, governor_, now()), progress_);
  status.jobs = job_statuses(jobs_, now());
  for (const JobStatus& job : status.jobs) {
    status.estimate += std::max(job.estimate, job.used.value_or(Bytes{}));
  }
  return status;
}

}  // namespace plimsoll::policy

#include "policy/scheduler/scheduler.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/quantity.h"
#include "policy/estimator/numbers.h"
#include "policy/job/priority.h"
#include "policy/job/words.h"
#include "policy/scheduler/scheduler_state.h"

// What the scheduler's owner calls, and what it shows.
namespace plimsoll::policy {
namespace {

GovernorConfig governor_config(const SchedulerConfig& config) {
  GovernorConfig governor = config.governor;
  governor.jobs_max = config.queue.jobs_max;
  return governor;
}

bool was_lost(Outcome outcome) {
  return outcome == Outcome::evicted || outcome == Outcome::machine_oom;
}

}  // namespace

Scheduler::State::State(SchedulerConfig config, Estimator& estimator, SchedulerListener listener)
    : config_(std::move(config)),
      estimator_(estimator),
      listener_(std::move(listener)),
      queue_(config_.queue),
      governor_(governor_config(config_)) {
  estimator_.expect_below(config_.governor.line);
}

void Scheduler::State::tell(EventKind kind, std::optional<JobId> job, std::string reason,
                            Numbers numbers, std::optional<HoldCause> hold) {
  if (!listener_.event) return;
  listener_.event({.at = now(),
                   .kind = kind,
                   .job = job,
                   .reason = std::move(reason),
                   .numbers = std::move(numbers),
                   .hold = hold});
}

void Scheduler::State::enter(const JobSpec& job, std::optional<Bytes> input) {
  Book& book = books_[job.id];
  book.name = job.name;
  book.priority = job.priority;
  book.restartable = job.restartable;
  book.tenant = job.tenant;
  book.key = key_of(job, config_.directory);
  book.facts = {.memory_hint = job.memory_hint,
                .cpu_hint = job.cpu_hint,
                .input = input,
                .numbers = numbers_of(job.command),
                .reached = {},
                .memory_max = job.limits.memory_max,
                .cpus = job.limits.cpus};
  book.kind = kinds_.take(book.key, book.facts, estimator_, book.tenant);
  queue_.enter(job);
  if (executor_ == nullptr) return;
  tell(EventKind::queued, job.id, "it was added to a running batch");
  turn();
}

void Scheduler::State::begin(Executor& executor) {
  PLIMSOLL_CHECK(executor_ == nullptr);
  executor_ = &executor;
  for (const auto& [job, book] : books_) untold_.push_back(job);
  std::sort(untold_.begin(), untold_.end());
  if (!share_reason_.empty()) tell_share();
  turn();
}

void Scheduler::State::turn() {
  if (executor_ == nullptr) return;
  pass_deadlines();
  note(queue_.settle(now()));
  for (const JobId job : queue_.take_ready()) arriving_.push_back(job);
  catch_up();
  take_kinds_anew();
  const bool stale = kinds_.refresh(estimator_, governor_) || !unsorted_.empty();
  // Which is to start first is known when all are there.
  const unsigned starts_max = arriving_.empty() ? queue_.room(now()) : 0;
  for (const Decision& decision : governor_.rule(now(), starts_max)) carry_out(decision);
  progress_.note(now(), governor_.running() - governor_.frozen(), governor_.waiting());
  if (arriving_.empty()) tell_holding();
  set_wake(stale);
}

void Scheduler::State::on_wake() {
  if (resume_at_ && now() >= *resume_at_) resume_at_.reset();
  turn();
}

void Scheduler::State::set_wake(bool stale) {
  std::optional<Instant> wake = governor_.next_wake();
  const auto sooner = [&wake](Instant at) { wake = wake ? std::min(*wake, at) : at; };
  // What is due already waits for the governor, which has its own next moment.
  if (const auto next = queue_.next_wake(); next && *next > now()) sooner(*next);
  if (!deadlines_.empty()) sooner(deadlines_.begin()->first);
  if (stale) sooner(now() + kBehindGap);
  if (resume_at_) sooner(*resume_at_);
  executor_->wake_at(wake);
}

void Scheduler::State::end_unstarted(JobId job, const std::string& reason, bool gave_up) {
  forget(job);
  tell(EventKind::ended, job, reason);
  if (listener_.over) {
    listener_.over({.job = job, .end = {}, .requeue = {}, .gave_up = gave_up, .reason = reason});
  }
}

void Scheduler::State::forget(JobId job) {
  const auto book = books_.extract(job);
  kinds_.give_back(book.mapped().kind, governor_);
}

void Scheduler::State::carry_out(const Decision& decision) {
  const auto told = [&](EventKind kind, std::optional<JobId> job) {
    tell(kind, job, decision.reason, decision.numbers);
  };
  if (const auto* admit = std::get_if<Admit>(&decision.verdict)) {
    told(EventKind::admitted, admit->job);
    start(admit->job);
  } else if (const auto* reclaim = std::get_if<Reclaim>(&decision.verdict)) {
    ++counts_.reclaims;
    told(EventKind::reclaimed, reclaim->job);
    executor_->reclaim(reclaim->job, reclaim->amount);
  } else if (const auto* stop = std::get_if<Freeze>(&decision.verdict)) {
    told(EventKind::frozen, stop->job);
    freeze(stop->job);
  } else if (const auto* go = std::get_if<Thaw>(&decision.verdict)) {
    told(EventKind::thawed, go->job);
    thaw(go->job);
  } else if (const auto* evict = std::get_if<Evict>(&decision.verdict)) {
    ++counts_.evictions;
    told(EventKind::evicted, evict->job);
    kill(evict->job, Outcome::evicted, decision.reason);
  } else if (const auto* fail = std::get_if<Fail>(&decision.verdict)) {
    told(EventKind::failed, fail->job);
    kill(fail->job, Outcome::over_line, decision.reason);
  }
}

void Scheduler::State::start(JobId job) {
  Book& book = books_.at(job);
  book.waits = false;
  kinds_.remove_waiting(book.kind);
  Start start = queue_.start(job, now());
  book.live = std::make_unique<Live>(start.attempt, now());
  book.live->estimate = estimator_.estimate(book.key, book.facts);
  book.live->admitted_with = book.live->estimate.peak;
  start.admitted_with = to_bytes(book.live->admitted_with.mean + book.live->admitted_with.spread);
  set_deadline(job, *book.live);
  Numbers numbers;
  if (book.priority != 0) {
    numbers = {{"priority", static_cast<double>(book.priority)},
               {"weight", static_cast<double>(weight_of(book.priority))}};
  }
  tell(EventKind::started, job,
       "attempt " + std::to_string(start.attempt) + " in slot " + std::to_string(start.slot),
       std::move(numbers));
  executor_->start(start);
}

void Scheduler::State::freeze(JobId job) {
  Live& live = *books_.at(job).live;
  ++counts_.pauses;
  live.watch.stop(now());
  set_deadline(job, live);
  executor_->freeze(job);
}

void Scheduler::State::thaw(JobId job) {
  Live& live = *books_.at(job).live;
  live.watch.go_on(now());
  set_deadline(job, live);
  executor_->thaw(job);
}

// The governor knows already of what it has decided itself; condemn() is without effect then.
void Scheduler::State::kill(JobId job, Outcome cause, const std::string& reason) {
  Live& live = *books_.at(job).live;
  if (live.dying) return;
  live.dying = true;
  set_deadline(job, live);
  governor_.mark_dying(job, now());
  executor_->kill(job, cause, reason);
}

void Scheduler::State::on_job(JobId job, const JobSample& sample) {
  const auto found = books_.find(job);
  if (found == books_.end() || found->second.live == nullptr) return;
  Book& book = found->second;
  Live& live = *book.live;
  live.live_profile.observe(sample);
  live.course.add(sample.ran, sample.used);
  if (live.estimate.basis != Basis::exact) show(book, live, showing_of(live.live_profile));
  governor_.observe(job, sample, now());
  const double change = std::abs(to_double(sample.used) - to_double(live.estimated_used));
  const auto share = std::chrono::duration_cast<Duration>(live.estimated_ran * kEstimateAge);
  const Duration gap = std::max(kEstimateGap, share);
  if (sample.ran >= live.estimated_ran + gap || live.estimated_ran == Duration{} ||
      change > live.estimate.peak.mean * kEstimateChange) {
    live.estimate = estimator_.estimate(book.key, book.facts, live.live_profile);
    live.estimated_ran = sample.ran;
    live.estimated_used = sample.used;
    governor_.expect(job, live.estimate, now());
  }
  counts_.used_peak = std::max(counts_.used_peak, governor_.used());
  turn();
}

void Scheduler::State::on_machine(const MachineSample& sample) {
  governor_.tick(sample, now());
  counts_.used_peak = std::max(counts_.used_peak, governor_.used());
  turn();
}

void Scheduler::State::on_alarm(const Alarm& alarm) {
  if (alarmed_ && now() - *alarmed_ < kAlarmGap) return;
  alarmed_ = now();
  tell(EventKind::alarm, {}, alarm.reason, alarm.numbers);
}

void Scheduler::State::on_over(JobId job, const AttemptEnd& end) {
  Book& book = books_.at(job);
  PLIMSOLL_CHECK(book.live != nullptr);
  const std::unique_ptr<Live> live = std::move(book.live);
  if (live->deadline) deadlines_.erase({*live->deadline, job});
  show(book, *live, {});
  learn(book, *live, end);
  governor_.leave(job, end, now());
  std::optional<Requeue> requeue = queue_.leave(job, end, now());
  if (was_lost(end.outcome)) ++book.lost;
  if (was_lost(end.outcome) || requeue) {
    counts_.lost_cpu += Duration(static_cast<std::int64_t>(
        live->live_profile.cores() * static_cast<double>(live->live_profile.ran().count())));
  }
  JobOver over{.job = job,
               .end = end,
               .requeue = requeue,
               .gave_up = false,
               .reason = requeue ? requeue->reason : describe(end)};
  if (requeue) {
    if (was_lost(end.outcome)) {
      book.facts.reached =
          std::max(book.facts.reached.value_or(Bytes{}), live->live_profile.peak());
      const Kind smaller = book.kind;
      book.kind = kinds_.take(book.key, book.facts, estimator_, book.tenant);
      kinds_.give_back(smaller, governor_);
    }
    tell(EventKind::requeued, job, over.reason);
  } else {
    tell(EventKind::ended, job, over.reason);
    forget(job);
  }
  if (listener_.over) listener_.over(over);
  follow_timeouts();
  turn();
}

// What an attempt teaches whose end was not its own is only that it needs at least so much.
void Scheduler::State::learn(const Book& book, const Live& live, const AttemptEnd& end) {
  if (was_never_executed(end) || !live.live_profile.has_samples()) return;
  if (succeeded(end))
    calibration_.add(live.admitted_with, live.live_profile.peak(), live.live_profile.ran());
  if (!was_lost(end.outcome)) progress_.ended(to_seconds(live.watch.ran(now())));
  const auto seen = succeeded(end) ? Seen::whole : Seen::at_least;
  AttemptSummary attempt_summary{.key = book.key,
                                 .peak = live.live_profile.peak(),
                                 .peak_seen = seen,
                                 .ran = std::max(live.watch.ran(now()), live.live_profile.ran()),
                                 .ran_seen = seen,
                                 .cores = live.live_profile.cores_wanted(),
                                 .input = book.facts.input,
                                 .numbers = book.facts.numbers,
                                 .memory_hint = book.facts.memory_hint,
                                 .curve = live.course.course()};
  estimator_.learn(attempt_summary);
  if (listener_.learnt) listener_.learnt(attempt_summary);
  if (kinds_.learnt(book.key, estimator_)) take_kinds_anew(book.key);
}

// Others of the class that wait are believed to be like it; small news of it are none.
void Scheduler::State::show(const Book& book, Live& live, const Showing& now) {
  if (!is_news(live.showing, now)) return;
  estimator_.show(book.key, live.showing, now);
  live.showing = now;
  kinds_.shown(book.key);
}

void Scheduler::State::tell_holding() {
  const auto& holding = governor_.holding();
  if (!holding) {
    held_.reset();
    return;
  }
  Book& book = books_.at(holding->job);
  if (!book.held) {
    book.held = true;
    ++counts_.holds;
  }
  const std::pair now_held(holding->job, holding->cause);
  if (held_ == now_held) return;
  held_ = now_held;
  tell(EventKind::held, holding->job, holding->reason, holding->numbers, holding->cause);
}

// Frozen time does not count, so a frozen attempt has no deadline.
void Scheduler::State::set_deadline(JobId job, Live& live) {
  if (live.deadline) deadlines_.erase({*live.deadline, job});
  live.deadline.reset();
  if (live.dying || live.watch.is_stopped()) return;
  const auto timeout = queue_.timeout_of(job);
  if (!timeout) return;
  live.deadline = now() + std::max(*timeout - live.watch.ran(now()), Duration{});
  deadlines_.emplace(*live.deadline, job);
}

void Scheduler::State::pass_deadlines() {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now()) {
    const JobId job = deadlines_.begin()->second;
    const Duration ran = books_.at(job).live->watch.ran(now());
    constexpr double kWhole = 100;
    std::string reason = "timed out after " + format_duration(ran);
    if (const auto share = queue_.median_share_of(job)) {
      reason += " (" + words::percent(share->percent / kWhole) + " of the median)";
    }
    kill(job, Outcome::timed_out, std::move(reason));
  }
}

// A median moves with every end, and the time-outs that follow it move along.
void Scheduler::State::follow_timeouts() {
  if (!std::holds_alternative<MedianPercent>(config_.queue.timeout)) return;
  for (auto& [job, book] : books_) {
    if (book.live != nullptr) set_deadline(job, *book.live);
  }
}

Result<Scheduler::State::Live*> Scheduler::State::running(JobId job) {
  const auto found = books_.find(job);
  if (found == books_.end()) return fail("the job has ended or does not exist");
  if (found->second.live == nullptr) return fail("the job is not running");
  return found->second.live.get();
}

Result<void> Scheduler::State::kill(JobId job, const std::string& reason) {
  if (auto found = running(job); !found) return pass(std::move(found));
  kill(job, Outcome::cancelled, reason);
  turn();
  return {};
}

Result<void> Scheduler::State::withdraw(JobId job, const std::string& reason) {
  if (!queue_.is_waiting(job)) return fail("the job is not waiting");
  queue_.withdraw(job, reason);
  turn();
  return {};
}

void Scheduler::State::set_share(const Share& share, std::string reason) {
  const bool same = share.line == governor_.config().line && share.cores == governor_.cores();
  governor_.set_share(share);
  estimator_.expect_below(share.line);
  if (!same) share_reason_ = std::move(reason);
  if (executor_ == nullptr) return;  // begin() tells it
  if (!same) tell_share();
  turn();
}

void Scheduler::State::tell_share() {
  tell(EventKind::line, {}, share_reason_,
       {{"line_bytes", to_double(governor_.config().line)}, {"cores", governor_.cores()}});
}

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

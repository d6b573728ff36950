#include <signal.h>

#include <algorithm>
#include <limits>

#include "sim/outcome.h"
#include "sim/quantities.h"
#include "sim/simulated_executor.h"

// How time passes on the simulated machine: what is reached next, what follows from it, and who
// looks when.
namespace plimsoll::sim {
namespace {

// So close to a bound counts as reached: rounding of sums, far below a page.
constexpr double kSameMib = 1e-6;

}  // namespace

Stopped SimulatedExecutor::run(policy::ExecutorObserver& observer) {
  // Also of what is no number.
  if (!(lower_bound_seconds(jobs_, config_) <= to_seconds(kSimulatedMax))) return Stopped::too_long;
  for (;;) {
    const auto moment = next_moment();
    if (!moment) return Stopped::quiet;
    if (*moment > kSimulatedMax) return Stopped::too_long;
    if (is_idle(*moment)) return Stopped::idle;
    pass_to(*moment, observer);
    if (has_thrown_away_too_much()) return Stopped::thrown_away;
  }
}

bool SimulatedExecutor::is_idle(Duration next) {
  turns_at_now_ = next > now_ ? 0 : turns_at_now_ + 1;
  if (motion_.moving() > 0) {
    idle_since_.reset();
    return turns_at_now_ > kTurnsMax;
  }
  if (!idle_since_) idle_since_ = now_;
  return next - *idle_since_ > kIdleMax || turns_at_now_ > kTurnsMax;
}

// What machine samples come after the last job is of no interest.
std::optional<Duration> SimulatedExecutor::next_moment() {
  std::optional<Duration> moment = wake_;
  const auto consider = [&moment](Duration at) { moment = std::min(moment.value_or(at), at); };
  if (alive_ == 0) return moment;
  if (!events_.empty()) consider(events_.top().at);
  if (!deliveries_.empty()) consider(deliveries_.front().at);
  if (const double at = motion_.next_point(); at < std::numeric_limits<double>::infinity()) {
    consider(std::max(to_duration(at), now_));
  }
  for (const double bound : {line_mib_, line_mib_ * (1 + kThrottleFrom), kill_mib_}) {
    const double seconds = seconds_to(bound);
    if (seconds < std::numeric_limits<double>::infinity()) consider(now_ + to_duration(seconds));
  }
  return std::max(*moment, now_);
}

// Until the pool has grown to there, if all goes on as now; infinite: it has, or will not.
double SimulatedExecutor::seconds_to(double mib) const {
  const double left = mib - motion_.used_mib();
  const double growth = motion_.growth_mib();
  if (left < kSameMib || growth <= 0) return std::numeric_limits<double>::infinity();
  return left / growth;
}

void SimulatedExecutor::pass_to(Duration moment, policy::ExecutorObserver& observer) {
  machine_sampler_.count_stalls(to_seconds(moment - now_));
  now_ = moment;
  ended_.clear();
  motion_.advance(to_seconds(moment), ended_);
  end_reached();
  watch_line(observer);
  while (!events_.empty() && events_.top().at <= now_) {
    const Event event = events_.top();
    events_.pop();
    carry_out(event, observer);
    hold_limit(observer);  // several may come back from swap at one moment
  }
  deliver(observer);
  watch_line(observer);
  if (wake_ && *wake_ <= now_) {
    wake_.reset();
    observer.on_wake();
  }
}

void SimulatedExecutor::end_reached() {
  for (const std::size_t job : ended_) {
    Attempt& attempt = attempts_[job];
    if (attempt.state != State::running) continue;
    const Bytes peak = from_mib(motion_.job_peak_mib(job));
    attempt.last = seen_of(job);
    // A job that nobody has met while it ran is told by the kernel's peak.
    attempt.last.used = attempt.last.peak = attempt.was_sampled ? Bytes{} : peak;
    attempt.ran = attempt.last.ran;
    attempt.state = State::ending;
    motion_.remove(job);
    schedule(What::ended, kEndCost, job);
  }
}

void SimulatedExecutor::watch_line(policy::ExecutorObserver& observer) {
  hold_limit(observer);
  set_throttle();
  const bool past = motion_.used_mib() >= line_mib_ - kSameMib;
  const bool alarm = past && !past_line_ && config_.sampling != Sampling::none;
  past_line_ = past;
  if (!alarm || (last_alarm_ && now_ - *last_alarm_ < kAlarmGap)) return;
  last_alarm_ = now_;
  sample_machine();
}

void SimulatedExecutor::hold_limit(policy::ExecutorObserver& observer) {
  while (motion_.used_mib() >= kill_mib_ - kSameMib) kill_largest(observer);
}

// The kernel waits for one that is dying already instead of taking another. Either way those who
// allocate stand still until the memory is back, which takes no time here.
void SimulatedExecutor::kill_largest(policy::ExecutorObserver& observer) {
  std::optional<std::size_t> largest;
  std::optional<std::size_t> dying;
  for (std::size_t job = 0; job < attempts_.size(); ++job) {
    const State state = attempts_[job].state;
    if (state == State::absent || state == State::starting || state == State::ending) continue;
    if (state == State::dying) dying = job;
    if (!largest || motion_.job_used_mib(job) > motion_.job_used_mib(*largest)) largest = job;
  }
  PLIMSOLL_CHECK(largest);
  policy::AttemptEnd end{.outcome = policy::Outcome::machine_oom, .signal = SIGKILL};
  if (dying) {
    largest = dying;
    end.outcome = attempts_[*dying].cause;
  }
  end.wall = now_ - attempts_[*largest].begun;
  over(*largest, end, observer);
}

void SimulatedExecutor::set_throttle() {
  if (config_.wall != Wall::throttle || throttling_) return;
  const double overage = motion_.used_mib() / line_mib_ - 1;
  if (overage < kThrottleFrom) {
    motion_.throttle(std::nullopt);
    return;
  }
  motion_.throttle(kThrottleBatchMib / (kThrottleScale * overage * overage));
  throttling_ = true;
  const double seconds =
      kThrottleMove * overage * line_mib_ / std::max(std::abs(motion_.growth_mib()), kSameMib);
  schedule(What::throttle, std::clamp(to_duration(seconds), kThrottleTickMin, kThrottleTickMax));
}

bool SimulatedExecutor::has_thrown_away_too_much() const {
  if (attempts_most_ > kAttemptsMax) return true;
  if (work_cpu_ > 0) return tally_.lost_cpu_seconds > kLostShareMax * work_cpu_;
  return tally_.lost_curve_seconds > kLostShareMax * work_seconds_;
}

Tally SimulatedExecutor::tally() const {
  Tally tally = tally_;
  tally.cpu_seconds = motion_.cpu_seconds();
  tally.mib_seconds = motion_.mib_seconds();
  tally.used_peak_mib = motion_.peak_mib();
  return tally;
}

// --- looks ---

Duration SimulatedExecutor::ran(const Attempt& attempt) const {
  const bool runs = attempt.state == State::running || attempt.state == State::returning;
  return runs ? attempt.ran + (now_ - attempt.resumed) : attempt.ran;
}

bool SimulatedExecutor::is_frozen(JobId job) const {
  return attempts_[index_of(job)].state == State::frozen;
}

bool SimulatedExecutor::is_done(JobId job) const { return attempts_[index_of(job)].done; }

Bytes SimulatedExecutor::used() const { return from_mib(motion_.used_mib()); }

Bytes SimulatedExecutor::swap_free() const { return from_mib(swap_free_mib_); }

policy::JobSample SimulatedExecutor::seen_of(std::size_t job) {
  const double used = motion_.job_used_mib(job);
  policy::JobSample seen{.ran = ran(attempts_[job]),
                         .used = from_mib(std::max(used + chance_.wobble(kMemoryNoiseMib), 0.0)),
                         .cpu = to_duration(motion_.job_cpu_seconds(job)),
                         .cpu_wait = to_duration(motion_.job_cpu_wait(job))};
  seen.peak = seen.used;
  return seen;
}

void SimulatedExecutor::sample(std::size_t job) {
  if (attempts_[job].state == State::running) look_at(job);
}

void SimulatedExecutor::look_at(std::size_t job) {
  Attempt& attempt = attempts_[job];
  Delivery delivery{.at = now_ + kSampleDelay, .job = job, .epoch = attempt.epoch};
  attempt.last = delivery.job_sample = seen_of(job);
  attempt.was_sampled = true;
  deliveries_.push_back(delivery);
  const Duration for_governor = attempt.samples.after(attempt.last.used, Instant(now_));
  const Duration for_record = std::max(attempt.last.ran, kFirstSample);
  ++attempt.resumes;
  schedule(What::sample, std::min(for_governor, for_record), job);
}

void SimulatedExecutor::sample_jobs() {
  for (const std::size_t job : motion_.movers()) {
    const Attempt& attempt = attempts_[job];
    const Duration gap = attempt.samples.is_moving()
                             ? std::max(kMovingSampleInterval, finest_gap(jobs_[job].curve))
                             : kCalmSampleInterval;
    if (Instant(now_) - attempt.samples.last() < gap) continue;
    look_at(job);
    ++sampled_;
  }
}

void SimulatedExecutor::sample_machine() {
  const Delivery delivery{.at = now_ + kSampleDelay,
                          .machine_sample = machine_sampler_.sample(now_, swap_free_mib_)};
  sampled_ = 0;
  const double room_mib = line_mib_ - motion_.used_mib();
  const bool is_mark_passed = room_mark_.passes(from_mib(std::max(room_mib, 0.0)));
  const bool is_near = room_mib <= line_mib_ * kNearShare;
  if ((is_near || is_mark_passed) && config_.sampling == Sampling::jobs_and_machine) sample_jobs();
  deliveries_.push_back(delivery);
}

void SimulatedExecutor::deliver(policy::ExecutorObserver& observer) {
  while (!deliveries_.empty() && deliveries_.front().at <= now_) {
    const Delivery delivery = deliveries_.front();
    deliveries_.pop_front();
    if (!delivery.job) {
      observer.on_machine(delivery.machine_sample);
    } else if (const Attempt& attempt = attempts_[*delivery.job];
               attempt.epoch == delivery.epoch && attempt.state == State::running) {
      observer.on_job(id_of(*delivery.job), delivery.job_sample);
    }
  }
}

}  // namespace plimsoll::sim

// Time passes: the next moment at which something happens, what is true then, and who is told.
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "sim/quantities.h"
#include "sim/simulated_executor.h"

namespace plimsoll::sim {
namespace {

// So close to a bound counts as reached: rounding of sums, far below a page.
constexpr double kSameMib = 1e-6;

}  // namespace

Stopped SimulatedExecutor::run(policy::ExecutorObserver& observer) {
  for (;;) {
    const auto moment = next_moment();
    if (!moment) return Stopped::quiet;
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
  count_stalls(to_seconds(moment - now_));
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

}  // namespace plimsoll::sim

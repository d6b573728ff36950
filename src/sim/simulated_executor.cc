#include "sim/simulated_executor.h"

#include <signal.h>

#include <algorithm>

#include "base/check.h"
#include "sim/outcome.h"
#include "sim/quantities.h"

namespace plimsoll::sim {
namespace {

// Memory goes to swap and comes back in pieces of this: a tenth of a second each.
constexpr double kSwapPieceMib = 64;

}  // namespace

SimulatedExecutor::SimulatedExecutor(const MachineConfig& config, std::span<const SimJob> jobs)
    : config_(config),
      jobs_(jobs),
      motion_(config.cores, config.other_load, jobs),
      attempts_(jobs.size()),
      line_mib_(to_mib(config.line)),
      kill_mib_(line_mib_),
      swap_free_mib_(to_mib(config.swap)),
      chance_(config.noise, config.seed),
      machine_sampler_(config, jobs, motion_, chance_) {
  PLIMSOLL_CHECK(config.line > Bytes{});
  if (config.wall == Wall::throttle) {
    kill_mib_ =
        std::min(line_mib_ / kHighShareOfMax, to_mib(config.line + reserve_of(config.line)));
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    PLIMSOLL_CHECK(jobs[i].spec.id == id_of(i));
    work_cpu_ += jobs[i].curve.cpu_seconds();
    work_seconds_ += jobs[i].curve.seconds();
  }
}

// --- verbs ---

std::uint32_t SimulatedExecutor::turn_of(const Attempt& attempt, What what) {
  if (what == What::sample) return attempt.resumes;
  const bool of_freezes = what == What::frozen || what == What::push_out || what == What::take_back;
  return of_freezes ? attempt.freezes : 0;
}

void SimulatedExecutor::schedule(What what, Duration after) {
  events_.push({.at = now_ + after, .sequence = ++sequence_, .what = what});
}

void SimulatedExecutor::schedule(What what, Duration after, std::size_t job) {
  const Attempt& attempt = attempts_[job];
  events_.push({.at = now_ + after,
                .sequence = ++sequence_,
                .what = what,
                .job = job,
                .epoch = attempt.epoch,
                .turn = turn_of(attempt, what)});
}

void SimulatedExecutor::start(const policy::Start& start) {
  const std::size_t job = index_of(start.job);
  PLIMSOLL_CHECK(job < jobs_.size());
  Attempt& attempt = attempts_[job];
  PLIMSOLL_CHECK(attempt.state == State::absent);
  attempt = {.state = State::starting,
             .epoch = attempt.epoch + 1,
             .begun = now_,
             .attempts = attempt.attempts + 1};
  attempts_most_ = std::max(attempts_most_, attempt.attempts);
  ++alive_;
  ++tally_.starts;
  const double cost = chance_.share() * to_seconds(kStartCostMax - kStartCost);
  schedule(What::begin, kStartCost + to_duration(cost), job);
  if (config_.sampling != Sampling::none && !machine_sampled_) {
    machine_sampled_ = true;
    machine_sampler_.begin(now_);
    schedule(What::machine_sample, kMachineGapMin);
  }
}

void SimulatedExecutor::freeze(JobId job) {
  const std::size_t index = index_of(job);
  PLIMSOLL_CHECK(index < jobs_.size());
  Attempt& attempt = attempts_[index];
  const bool is_over = attempt.state == State::absent || attempt.state == State::dying ||
                       attempt.state == State::ending;
  if (attempt.freeze_wanted || is_over) return;
  attempt.freeze_wanted = true;
  ++attempt.freezes;
  // A group is not frozen while its first process is being born; begin() sees to it.
  if (attempt.state == State::starting) return;
  const bool sleeps = motion_.job_throttled(index);
  schedule(What::frozen, sleeps ? kFreezeDelayThrottled : kFreezeDelay, index);
}

void SimulatedExecutor::thaw(JobId job) {
  const std::size_t index = index_of(job);
  PLIMSOLL_CHECK(index < jobs_.size());
  Attempt& attempt = attempts_[index];
  if (!attempt.freeze_wanted) return;
  attempt.freeze_wanted = false;
  attempt.reclaim_mib = 0;
  ++attempt.freezes;
  if (attempt.state == State::frozen) go_on(index);
}

void SimulatedExecutor::reclaim(std::optional<JobId> job, Bytes amount) {
  if (!job) return;
  const std::size_t index = index_of(*job);
  PLIMSOLL_CHECK(index < jobs_.size());
  Attempt& attempt = attempts_[index];
  if (attempt.state != State::frozen) return;
  const bool at_work = attempt.reclaim_mib > 0;
  attempt.reclaim_mib = std::max(attempt.reclaim_mib, to_mib(amount));
  if (!at_work) push_out(index);
}

void SimulatedExecutor::kill(JobId job, policy::Outcome cause, std::string /*reason*/) {
  const std::size_t index = index_of(job);
  PLIMSOLL_CHECK(index < jobs_.size());
  Attempt& attempt = attempts_[index];
  if (attempt.state == State::absent || attempt.state == State::dying) return;
  if (attempt.state == State::ending) return;
  attempt.ran = ran(attempt);
  motion_.stand(index);
  const bool born = attempt.state != State::starting;
  attempt.state = State::dying;
  attempt.cause = cause;
  const double mib = born ? motion_.job_used_mib(index) : 0;
  schedule(What::dead, kKillDelay + to_duration(mib / kExitMibPerSecond), index);
}

void SimulatedExecutor::look_soon() {
  for (std::size_t job = 0; job < attempts_.size(); ++job) {
    Attempt& attempt = attempts_[job];
    if (attempt.state != State::running) continue;
    const Duration since = Instant(now_) - attempt.samples.last();
    if (since >= kCalmSampleInterval) {
      look_at(job);
    } else {
      ++attempt.resumes;
      schedule(What::sample, kCalmSampleInterval - since, job);
    }
  }
}

void SimulatedExecutor::wake_at(std::optional<Instant> when) {
  wake_.reset();
  if (when) wake_ = std::max(when->time_since_epoch(), now_);
}

// --- what comes of them ---

bool SimulatedExecutor::is_void(const Event& event) const {
  const Attempt& attempt = attempts_[event.job];
  if (attempt.epoch != event.epoch || turn_of(attempt, event.what) != event.turn) return true;
  if (attempt.state == State::ending) return event.what != What::ended;
  return attempt.state == State::dying && event.what != What::dead;
}

void SimulatedExecutor::carry_out(const Event& event, policy::ExecutorObserver& observer) {
  if (event.what == What::machine_sample || event.what == What::throttle) {
    mind_machine(event.what);
    return;
  }
  if (is_void(event)) return;
  switch (event.what) {
    case What::begin: begin(event.job); break;
    case What::frozen: freeze_now(event.job); break;
    case What::push_out: push_out(event.job); break;
    case What::take_back: take_back(event.job); break;
    case What::sample: sample(event.job); break;
    case What::ended: {
      const Attempt& attempt = attempts_[event.job];
      // The last look is at what the ended job has left.
      if (config_.sampling == Sampling::jobs_and_machine) {
        observer.on_last_look(id_of(event.job), attempt.last);
      }
      over(event.job,
           {.outcome = policy::Outcome::exited, .exit_code = 0, .wall = now_ - attempt.begun},
           observer);
      break;
    }
    case What::dead: {
      const Attempt& attempt = attempts_[event.job];
      over(event.job, {.outcome = attempt.cause, .signal = SIGKILL, .wall = now_ - attempt.begun},
           observer);
      break;
    }
    case What::machine_sample:
    case What::throttle: break;
  }
}

void SimulatedExecutor::mind_machine(What what) {
  if (what == What::throttle) {
    throttling_ = false;
    set_throttle();
    return;
  }
  machine_sampled_ = alive_ > 0;
  if (!machine_sampled_) return;
  sample_machine();
  schedule(What::machine_sample, machine_sampler_.gap(sampled_));
}

void SimulatedExecutor::begin(std::size_t job) {
  Attempt& attempt = attempts_[job];
  attempt.state = State::running;
  attempt.resumed = now_;
  motion_.begin(job);
  if (attempt.freeze_wanted) schedule(What::frozen, kFreezeDelay, job);
  if (config_.sampling == Sampling::jobs_and_machine) schedule(What::sample, kFirstSample, job);
}

void SimulatedExecutor::freeze_now(std::size_t job) {
  Attempt& attempt = attempts_[job];
  attempt.ran = ran(attempt);
  attempt.state = State::frozen;
  motion_.stand(job);
  ++tally_.pauses;
}

void SimulatedExecutor::go_on(std::size_t job) {
  Attempt& attempt = attempts_[job];
  attempt.ran = ran(attempt);
  attempt.resumed = now_;
  if (motion_.job_swapped_mib(job) > 0) {
    attempt.state = State::returning;
    schedule(What::take_back, Duration{}, job);
    return;
  }
  attempt.state = State::running;
  ++attempt.resumes;
  motion_.go_on(job);
  if (config_.sampling == Sampling::jobs_and_machine) schedule(What::sample, Duration{}, job);
}

void SimulatedExecutor::push_out(std::size_t job) {
  Attempt& attempt = attempts_[job];
  const double piece =
      std::min({attempt.reclaim_mib, kSwapPieceMib, swap_free_mib_, motion_.job_used_mib(job)});
  if (piece <= 0) {
    attempt.reclaim_mib = 0;
    return;
  }
  motion_.push_out(job, piece);
  swap_free_mib_ -= piece;
  attempt.reclaim_mib -= piece;
  schedule(What::push_out, to_duration(piece / kSwapMibPerSecond), job);
}

void SimulatedExecutor::take_back(std::size_t job) {
  const double piece = std::min(motion_.job_swapped_mib(job), kSwapPieceMib);
  if (piece <= 0) {
    go_on(job);
    return;
  }
  motion_.take_back(job, piece);
  swap_free_mib_ += piece;
  schedule(What::take_back, to_duration(piece / kSwapMibPerSecond), job);
}

void SimulatedExecutor::over(std::size_t job, const policy::AttemptEnd& end,
                             policy::ExecutorObserver& observer) {
  Attempt& attempt = attempts_[job];
  if (end.outcome == policy::Outcome::exited) {
    ++tally_.done;
    attempt.done = true;
  } else {
    tally_.lost_cpu_seconds += motion_.job_cpu_seconds(job);
    tally_.lost_curve_seconds += motion_.job_seconds(job);
  }
  if (end.outcome == policy::Outcome::evicted) ++tally_.evictions;
  if (end.outcome == policy::Outcome::machine_oom) ++tally_.oom_kills;
  swap_free_mib_ += motion_.job_swapped_mib(job);
  motion_.remove(job);
  attempt.state = State::absent;
  ++attempt.epoch;
  --alive_;
  tally_.last_end = now_;
  // Killed memory that is back is looked at at once, as on the real machine.
  if (end.outcome == policy::Outcome::evicted && machine_sampled_) sample_machine();
  observer.on_over(id_of(job), end);
}

}  // namespace plimsoll::sim

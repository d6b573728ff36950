#include "policy/queue/queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace plimsoll::policy {
namespace {

std::string seconds_text(Duration wait) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(wait).count()) + " s";
}

// An end that another attempt may better. Not a job's own memory limit, nor a command that is not
// there: they would end in the same way again.
bool may_retry(const AttemptEnd& end) {
  return !succeeded(end) && (end.outcome == Outcome::exited || end.outcome == Outcome::signalled ||
                             end.outcome == Outcome::timed_out);
}

}  // namespace

Queue::Queue(QueueConfig config) : config_(config) { PLIMSOLL_CHECK(config_.jobs_max >= 1); }

Queue::Job& Queue::find(JobId job) {
  const auto found = jobs_.find(job);
  PLIMSOLL_CHECK(found != jobs_.end());
  return found->second;
}

void Queue::enter(const JobSpec& spec) {
  PLIMSOLL_CHECK(!ended_.contains(spec.id));
  const auto [place, is_new] = jobs_.try_emplace(spec.id);
  PLIMSOLL_CHECK(is_new);
  Job& job = place->second;
  job.name = spec.name;
  job.retries = spec.retries;
  job.restarts = spec.restartable ? spec.restarts.value_or(kLostAttemptsMax) : 0;
  job.timeout = spec.timeout;
  job.is_command = spec.part_of.has_value();
  job.may_be_awaited = spec.may_be_awaited;
  ++(job.is_command ? commands_ : tally_.entered);
  PLIMSOLL_CHECK(spec.needs.empty() || config_.ended == Ended::remembered);
  for (const JobId need : spec.needs) {
    const auto ended = ended_.find(need);
    if (ended == ended_.end()) {
      dependents_[need].push_back(spec.id);
      ++job.needs_left;
    } else if (ended->second.end != End::succeeded) {
      doom(spec.id, need);
    }
  }
  if (job.needs_left == 0 && job.state != State::doomed) make_ready(spec.id, job);
}

void Queue::make_ready(JobId id, Job& job) {
  job.state = State::ready;
  if (!job.is_command) ++ready_;
  fresh_.push_back(id);
}

void Queue::doom(JobId id, JobId failed_need) {
  Job& job = find(id);
  if (job.state == State::doomed) return;
  PLIMSOLL_CHECK(job.state == State::needing);
  job.state = State::doomed;
  doomed_.emplace_back(id, failed_need);
}

std::optional<Requeue> Queue::leave(JobId id, const AttemptEnd& attempt, Instant now) {
  Job& job = find(id);
  PLIMSOLL_CHECK(job.state == State::running);
  running_.erase(id);
  if (job.is_command) {
    end_job(id, End::succeeded, {});
    return std::nullopt;
  }
  --running_jobs_;
  slots_.give_back(job.slot);
  const bool success = succeeded(attempt);
  if (!success && !stop_) {
    if (auto again = requeue(job, attempt, now)) {
      job.state = State::backoff;
      backoff_.emplace(again->not_before, id);
      return again;
    }
  }
  if (success && std::holds_alternative<MedianPercent>(config_.timeout)) {
    succeeded_wall_.add(attempt.wall);
  }
  end_job(id, success ? End::succeeded : End::failed, describe(attempt));
  count_ended(attempt);
  return std::nullopt;
}

std::optional<Requeue> Queue::requeue(Job& job, const AttemptEnd& attempt, Instant now) const {
  const bool lost = was_lost(attempt.outcome);
  if (lost) {
    if (job.lost >= job.restarts) return std::nullopt;
    ++job.lost;
  } else {
    if (!may_retry(attempt) || job.failures >= job.retries) return std::nullopt;
    ++job.failures;
  }
  const unsigned used = lost ? job.lost : job.failures;
  const unsigned bound = lost ? job.restarts : job.retries;
  const Duration wait = backoff_after(used);
  return Requeue{.not_before = now + wait,
                 .reason = "attempt " + std::to_string(job.attempts) + " " + describe(attempt) +
                           "; " + (lost ? "restart " : "retry ") + std::to_string(used) + " of " +
                           std::to_string(bound) + " in " + seconds_text(wait)};
}

void Queue::end_job(JobId id, End end, std::string why) {
  const auto job = jobs_.extract(id);
  if (job.mapped().is_command) --commands_;
  if (job.mapped().is_command || config_.ended == Ended::forgotten) return;
  ended_.emplace(id, Past{.name = job.mapped().name, .end = end, .why = std::move(why)});
  const auto waiting = dependents_.extract(id);
  if (waiting.empty()) return;
  for (const JobId dependent : waiting.mapped()) {
    const auto found = jobs_.find(dependent);
    if (found == jobs_.end()) continue;  // skipped already, for another need or by a stop
    if (end != End::succeeded) {
      doom(dependent, id);
    } else if (--found->second.needs_left == 0 && found->second.state == State::needing) {
      make_ready(dependent, found->second);
    }
  }
}

void Queue::count_ended(const AttemptEnd& attempt) {
  ++(succeeded(attempt) ? tally_.succeeded : tally_.failed);
  if (stop_ || !config_.halt) return;
  if (auto reason = halt_reason(*config_.halt, tally_)) {
    stop_ = Stop{.urgency = config_.halt->urgency, .reason = std::move(*reason)};
    halted_ = Halted{.policy = *config_.halt, .tally = tally_, .last = attempt};
  }
}

void Queue::interrupt() {
  constexpr const char* kReason = "the run was interrupted";
  if (std::exchange(is_interrupted_, true)) {
    stop_ = Stop{.urgency = Urgency::now, .reason = kReason};
  } else if (!stop_) {
    stop_ = Stop{.urgency = Urgency::soon, .reason = kReason};
  }
}

void Queue::set_jobs_max(unsigned jobs_max) {
  PLIMSOLL_CHECK(jobs_max >= 1);
  config_.jobs_max = jobs_max;
}

std::vector<Decision> Queue::settle(Instant now) {
  std::vector<Decision> decisions;
  skip_doomed(decisions);
  end_withdrawn(decisions);
  if (stop_) {
    cancel_running(decisions);
    end_unstarted(decisions);
  } else {
    wake_waiting(now);
  }
  return decisions;
}

std::vector<JobId> Queue::take_ready() {
  std::vector<JobId> ready = std::exchange(fresh_, {});
  std::erase_if(ready, [this](JobId id) {
    const auto found = jobs_.find(id);
    return found == jobs_.end() || found->second.state != State::ready;
  });
  return ready;
}

// Grows while it is walked: each skipped job dooms those that need it.
void Queue::skip_doomed(std::vector<Decision>& decisions) {
  for (std::size_t i = 0; i < doomed_.size(); ++i) {
    const auto [id, failed_need] = doomed_[i];
    const Past& need = ended_.at(failed_need);
    const bool skipped = need.end == End::skipped;
    decisions.push_back({Skip{id}, "not started: it needs " + need.name + ", which " +
                                       (skipped ? "was skipped: " : "") + need.why});
    end_job(id, End::skipped, skipped ? need.why : need.name + ' ' + need.why);
  }
  doomed_.clear();
}

void Queue::cancel_running(std::vector<Decision>& decisions) {
  if (stop_->urgency != Urgency::now) return;
  for (const JobId id : running_) {
    Job& job = find(id);
    if (job.cancelled) continue;
    job.cancelled = true;
    decisions.push_back({Cancel{id}, stop_->reason});
  }
}

void Queue::end_unstarted(std::vector<Decision>& decisions) {
  if (jobs_.size() == running_.size()) return;
  ready_ = 0;
  backoff_.clear();
  std::vector<JobId> waiting;
  for (const auto& [id, job] : jobs_) {
    // Jobs that may end need theirs.
    const bool may_start = job.is_command && stop_->urgency != Urgency::now;
    if (job.state != State::running && !may_start) waiting.push_back(id);
  }
  for (const JobId id : waiting) end_waiting(id, stop_->reason, decisions);
  // What end_job() has doomed on the way has had its own decision by now.
  doomed_.clear();
}

void Queue::end_waiting(JobId id, const std::string& reason, std::vector<Decision>& decisions) {
  if (find(id).attempts == 0) {
    decisions.push_back({Skip{id}, "not started: " + reason});
  } else {
    decisions.push_back({GiveUp{id}, "not tried again: " + reason});
  }
  end_job(id, End::skipped, reason);
}

void Queue::withdraw(JobId id, std::string reason) {
  PLIMSOLL_CHECK(is_waiting(id));
  withdrawn_.emplace_back(id, std::move(reason));
}

bool Queue::is_waiting(JobId id) const {
  const auto found = jobs_.find(id);
  return found != jobs_.end() && found->second.state != State::running;
}

void Queue::end_withdrawn(std::vector<Decision>& decisions) {
  for (const auto& [id, reason] : std::exchange(withdrawn_, {})) {
    // Withdrawn twice, or skipped for a need.
    if (!is_waiting(id)) continue;
    const Job& waiting = find(id);
    if (waiting.state == State::ready && !waiting.is_command) --ready_;
    std::erase_if(backoff_, [job = id](const auto& one) { return one.second == job; });
    end_waiting(id, reason, decisions);
  }
  skip_doomed(decisions);
}

unsigned Queue::room(Instant now) const {
  if (stop_ || running_jobs_ >= config_.jobs_max) return 0;
  if (last_start_ && now < *last_start_ + config_.delay) return 0;
  return config_.delay > Duration{} ? 1 : config_.jobs_max - static_cast<unsigned>(running_jobs_);
}

void Queue::wake_waiting(Instant now) {
  while (!backoff_.empty() && backoff_.begin()->first <= now) {
    const JobId id = backoff_.begin()->second;
    backoff_.erase(backoff_.begin());
    make_ready(id, find(id));
  }
}

Start Queue::start(JobId id, Instant now) {
  Job& job = find(id);
  PLIMSOLL_CHECK(job.state == State::ready &&
                 (job.is_command || job.may_be_awaited || room(now) > 0));
  job.state = State::running;
  ++job.attempts;
  running_.insert(id);
  if (job.is_command) return {.job = id, .attempt = job.attempts, .slot = 0};
  --ready_;
  job.slot = slots_.take();
  ++running_jobs_;
  last_start_ = now;
  return {.job = id, .attempt = job.attempts, .slot = job.slot};
}

std::optional<Instant> Queue::next_wake() const {
  if (stop_ || running_jobs_ >= config_.jobs_max) return std::nullopt;
  const Instant next_start = last_start_ ? *last_start_ + config_.delay : Instant{};
  if (ready_ > 0) return next_start;
  if (backoff_.empty()) return std::nullopt;
  return std::max(backoff_.begin()->first, next_start);
}

std::optional<Duration> Queue::timeout_of(JobId id) const {
  const auto found = jobs_.find(id);
  PLIMSOLL_CHECK(found != jobs_.end());
  if (found->second.timeout) return found->second.timeout;
  if (found->second.is_command) return std::nullopt;
  return timeout_by(config_.timeout, succeeded_wall_);
}

std::optional<MedianPercent> Queue::median_share_of(JobId id) const {
  const auto found = jobs_.find(id);
  PLIMSOLL_CHECK(found != jobs_.end());
  const auto* share = std::get_if<MedianPercent>(&config_.timeout);
  if (found->second.timeout || share == nullptr) return std::nullopt;
  return *share;
}

}  // namespace plimsoll::policy

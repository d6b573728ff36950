#include "policy/scheduler/status.h"

#include <algorithm>
#include <utility>

namespace plimsoll::policy {
namespace {

Duration to_duration(double seconds) {
  constexpr double kMost = 1e9;  // 30 years: nobody knows better
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(std::clamp(seconds, 0.0, kMost)));
}

// What it uses halfway through what is left of it.
double mean_bytes(const Estimate& estimate) {
  std::size_t half = 0;
  while (half + 1 < kHorizons.size() && to_seconds(kHorizons[half]) < estimate.remaining.mean / 2) {
    ++half;
  }
  return estimate.ahead[half].mean;
}

// Of jobs that nothing like was seen before, a constant is all that is known.
std::optional<Belief> known_seconds(const Estimate& estimate) {
  const bool known = estimate.basis == Basis::exact || estimate.basis == Basis::tool;
  return known ? std::optional(estimate.remaining) : std::nullopt;
}

PauseCause pause_cause(const Member& member) {
  if (member.paused) return PauseCause::user;
  switch (member.held_for) {
    case Shortage::memory: return PauseCause::memory;
    case Shortage::cores: return PauseCause::cores;
    case Shortage::space: return PauseCause::space;
  }
  return PauseCause::memory;
}

JobStatus status_of(JobId job, const JobRecord& record, Instant now) {
  const RunningAttempt& attempt = *record.attempt;
  const Member& member = *record.ready.member;
  const bool is_frozen = member.state == MemberState::frozen;
  JobStatus status{.job = job,
                   .state = is_frozen ? JobState::frozen : JobState::running,
                   .attempt = attempt.number,
                   .ran = attempt.clock.ran(now),
                   .frozen = attempt.clock.paused(now),
                   .used = {},
                   .cores = {},
                   .estimate = to_bytes(attempt.estimate.peak.mean),
                   .cores_estimate = attempt.estimate.cores.mean,
                   .remaining = to_duration(attempt.estimate.remaining.mean),
                   .growth = {},
                   .unsettled = !member.paused && member.is_unsettled(),
                   .io = member.sample.io,
                   .paused_for = {},
                   .reason = {}};
  if (attempt.live_profile.has_samples()) {
    status.used = attempt.live_profile.used();
    status.cores = attempt.live_profile.cores_lately();
    status.growth = member.slope;
  }
  if (is_frozen) {
    status.paused_for = pause_cause(member);
    status.reason = attempt.paused_reason;
  }
  return status;
}

}  // namespace

std::vector<JobStatus> job_statuses(const JobRecords& jobs, Instant now) {
  std::vector<JobStatus> statuses;
  for (const auto& [job, record] : jobs) {
    if (record.attempt != nullptr) statuses.push_back(status_of(job, record, now));
  }
  std::sort(statuses.begin(), statuses.end(), [](const JobStatus& a, const JobStatus& b) {
    const Duration a_age = a.ran + a.frozen, b_age = b.ran + b.frozen;
    return a_age != b_age ? a_age > b_age : a.job < b.job;
  });
  return statuses;
}

WorkLeft work_left(const JobRecords& jobs, const Kinds& kinds, const Estimator& estimator,
                   const Governor& governor, Instant now) {
  WorkLeft work{.waiting = {},
                .running = {},
                .jobs_max = static_cast<double>(governor.config().jobs_max),
                .cores = governor.cores(),
                .line = std::max(to_double(governor.config().line), 1.0)};
  std::unordered_map<Kind, std::size_t> running;
  for (const auto& [job, record] : jobs) {
    if (record.attempt == nullptr) continue;
    ++running[record.ready.kind];
    const Estimate& estimate = record.attempt->estimate;
    work.running.push_back({.ran = to_seconds(record.attempt->clock.ran(now)),
                            .left = known_seconds(estimate),
                            .cores = estimate.cores.mean,
                            .bytes = mean_bytes(estimate)});
  }
  // Jobs of a kind are estimated once.
  for (const auto& [kind, entry] : kinds.entries()) {
    const auto found = running.find(kind);
    const std::size_t waiting = entry.jobs - (found != running.end() ? found->second : 0);
    if (waiting == 0) continue;
    const Estimate estimate = estimator.estimate(entry.key, entry.facts);
    work.waiting.push_back({.jobs = static_cast<double>(waiting),
                            .seconds = known_seconds(estimate),
                            .cores = estimate.cores.mean,
                            .bytes = mean_bytes(estimate)});
  }
  return work;
}

std::optional<Duration> time_left(const WorkLeft& work, const RunProgress& progress) {
  const auto left = seconds_left(work, progress);
  return left ? std::optional(to_duration(*left)) : std::nullopt;
}

}  // namespace plimsoll::policy

#include <algorithm>
#include <cmath>

#include "policy/scheduler/scheduler.h"
#include "policy/scheduler/scheduler_state.h"

// What a live display shows of a run.
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

}  // namespace

WorkLeft Scheduler::State::work_left() const {
  WorkLeft work{.waiting = {},
                .running = {},
                .jobs_max = static_cast<double>(governor_.config().jobs_max),
                .cores = governor_.cores(),
                .line = std::max(to_double(governor_.config().line), 1.0)};
  std::unordered_map<Kind, std::size_t> running;
  for (const auto& [job, book] : books_) {
    if (book.live == nullptr) continue;
    ++running[book.kind];
    const Estimate& estimate = book.live->estimate;
    work.running.push_back({.ran = to_seconds(book.live->watch.ran(now())),
                            .left = known_seconds(estimate),
                            .cores = estimate.cores.mean,
                            .bytes = mean_bytes(estimate)});
  }
  // Jobs of a kind are estimated once.
  for (const auto& [kind, entry] : kinds_.entries()) {
    const auto found = running.find(kind);
    const std::size_t waiting = entry.jobs - (found != running.end() ? found->second : 0);
    if (waiting == 0) continue;
    const Estimate estimate = estimator_.estimate(entry.key, entry.facts);
    work.waiting.push_back({.jobs = static_cast<double>(waiting),
                            .seconds = known_seconds(estimate),
                            .cores = estimate.cores.mean,
                            .bytes = mean_bytes(estimate)});
  }
  return work;
}

std::optional<Duration> Scheduler::State::remaining() const {
  if (executor_ == nullptr || books_.empty()) return std::nullopt;
  const auto left = seconds_left(work_left(), progress_);
  return left ? std::optional(to_duration(*left)) : std::nullopt;
}

SchedulerStatus Scheduler::State::status() const {
  SchedulerStatus status{.line = governor_.config().line,
                         .used = governor_.used(),
                         .cores = governor_.cores(),
                         .cores_of_others = governor_.cores_of_others(),
                         .jobs_max = governor_.config().jobs_max,
                         .running = governor_.running() - governor_.frozen(),
                         .frozen = governor_.frozen(),
                         .waiting = governor_.waiting(),
                         .unfinished = queue_.unfinished(),
                         .counts = counts_,
                         .holding = governor_.holding(),
                         .remaining = remaining(),
                         .jobs = {}};
  std::vector<std::pair<Duration, JobStatus>> jobs;  // by age
  for (const auto& [job, book] : books_) {
    if (book.live == nullptr || executor_ == nullptr) continue;
    const Live& live = *book.live;
    JobStatus one{.job = job,
                  .state = governor_.is_frozen(job) ? JobState::frozen : JobState::running,
                  .attempt = live.attempt,
                  .ran = live.watch.ran(now()),
                  .frozen = live.watch.stood(now()),
                  .used = {},
                  .cores = {},
                  .estimate = to_bytes(live.estimate.peak.mean),
                  .cores_estimate = live.estimate.cores.mean,
                  .remaining = to_duration(live.estimate.remaining.mean)};
    if (live.live_profile.has_samples()) {
      one.used = live.live_profile.used();
      one.cores = live.live_profile.cores_lately();
    }
    jobs.emplace_back(one.ran + one.frozen, one);
  }
  std::sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second.job < b.second.job;
  });
  for (auto& [age, one] : jobs) status.jobs.push_back(one);
  return status;
}

}  // namespace plimsoll::policy

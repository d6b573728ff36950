#include <algorithm>
#include <cmath>

#include "engine/conductor.h"
#include "engine/conductor_state.h"

// What a live display shows of a run.
namespace plimsoll::engine {
namespace {

Duration to_duration(double seconds) {
  constexpr double kMost = 1e9;  // 30 years: nobody knows better
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(std::clamp(seconds, 0.0, kMost)));
}

// What is left to be done, as far as is known.
struct Work {
  double longest = 0;       // seconds of one job
  double cpu_seconds = 0;   //
  double byte_seconds = 0;  //

  void add(const policy::Estimate& estimate, double jobs) {
    const double seconds = estimate.remaining.mean;
    // What it uses halfway through what is left of it.
    std::size_t half = 0;
    while (half + 1 < policy::kHorizons.size() &&
           to_seconds(policy::kHorizons[half]) < seconds / 2) {
      ++half;
    }
    longest = std::max(longest, seconds);
    cpu_seconds += jobs * seconds * estimate.cores.mean;
    byte_seconds += jobs * seconds * estimate.ahead[half].mean;
  }
};

}  // namespace

std::optional<Duration> Conductor::State::remaining() const {
  Work work;
  for (const auto& [job, book] : books_) {
    if (book.live != nullptr) work.add(book.live->estimate, 1);
  }
  // Jobs of a kind are estimated once.
  std::unordered_map<policy::Kind, double> kinds;
  for (const auto& [job, book] : books_) {
    if (book.live == nullptr) kinds[book.kind] += 1;
  }
  for (const auto& [kind, jobs] : kinds) {
    work.add(estimator_.estimate(kinds_.at(kind).key, kinds_.at(kind).facts), jobs);
  }
  if (work.longest <= 0) return std::nullopt;
  const double line = std::max(to_double(governor_.config().line), 1.0);
  return to_duration(
      std::max({work.longest, work.cpu_seconds / governor_.cores(), work.byte_seconds / line}));
}

ConductorStatus Conductor::State::status() const {
  ConductorStatus status{.line = governor_.config().line,
                         .used = governor_.used(),
                         .cores = governor_.cores(),
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
    if (book.live == nullptr || world_ == nullptr) continue;
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
    if (live.track.has_samples()) {
      one.used = live.track.used();
      one.cores = live.track.cores_lately();
    }
    jobs.emplace_back(one.ran + one.frozen, one);
  }
  std::sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second.job < b.second.job;
  });
  for (auto& [age, one] : jobs) status.jobs.push_back(one);
  return status;
}

}  // namespace plimsoll::engine

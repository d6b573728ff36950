#include "sim/backlog.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "base/check.h"
#include "sim/quantities.h"

namespace plimsoll::sim {
namespace {

std::vector<double> class_seconds(std::span<const SimJob> jobs) {
  struct Sum {
    double seconds = 0;
    double jobs = 0;
  };
  std::unordered_map<std::string_view, Sum> sums;
  for (const SimJob& job : jobs) {
    Sum& sum = sums[job.spec.job_class];
    sum.seconds += job.curve.seconds();
    ++sum.jobs;
  }
  std::vector<double> seconds;
  seconds.reserve(jobs.size());
  for (const SimJob& job : jobs) {
    const Sum& sum = sums.at(job.spec.job_class);
    seconds.push_back(sum.seconds / sum.jobs);
  }
  return seconds;
}

std::vector<double> seconds_by(Backlog::By by, std::span<const SimJob> jobs) {
  if (by == Backlog::By::class_length) return class_seconds(jobs);
  std::vector<double> seconds(jobs.size());
  if (by == Backlog::By::input) return seconds;
  for (std::size_t i = 0; i < jobs.size(); ++i) seconds[i] = jobs[i].curve.seconds();
  return seconds;
}

}  // namespace

Backlog::Backlog(std::span<const SimJob> jobs, By by)
    : jobs_(jobs),
      seconds_(seconds_by(by, jobs)),
      needs_left_(jobs.size()),
      dependents_(jobs.size()) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    needs_left_[i] = jobs[i].spec.needs.size();
    for (const JobId need : jobs[i].spec.needs) dependents_[index_of(need)].push_back(i);
    if (needs_left_[i] == 0) ready_.push_back(i);
  }
  std::sort(ready_.begin(), ready_.end(),
            [this](std::size_t a, std::size_t b) { return before(a, b); });
}

bool Backlog::before(std::size_t a, std::size_t b) const {
  if (jobs_[a].spec.priority != jobs_[b].spec.priority) {
    return jobs_[a].spec.priority > jobs_[b].spec.priority;
  }
  return seconds_[a] != seconds_[b] ? seconds_[a] > seconds_[b] : a < b;
}

std::size_t Backlog::take() { return take_at(0); }

std::size_t Backlog::take_at(std::size_t place) {
  PLIMSOLL_CHECK(place < ready_.size());
  const std::size_t job = ready_[place];
  ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(place));
  return job;
}

void Backlog::done(std::size_t job) {
  for (const std::size_t dependent : dependents_[job]) {
    if (--needs_left_[dependent] > 0) continue;
    // What was put back stands in front whatever it is: a linear search, not a binary one.
    const auto at = std::find_if(ready_.begin(), ready_.end(),
                                 [&](std::size_t other) { return before(dependent, other); });
    ready_.insert(at, dependent);
  }
}

}  // namespace plimsoll::sim

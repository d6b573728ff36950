#include "sim/backlog.h"

#include <algorithm>

#include "base/check.h"
#include "sim/quantities.h"

namespace plimsoll::sim {

Backlog::Backlog(std::span<const SimJob> jobs, By by)
    : jobs_(jobs), by_(by), needs_left_(jobs.size()), dependents_(jobs.size()) {
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
  const double longer = jobs_[a].curve.seconds() - jobs_[b].curve.seconds();
  return by_ == By::length && longer != 0 ? longer > 0 : a < b;
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

#include "sim/backlog.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "sim/quantities.h"

namespace plimsoll::sim {

Backlog::Backlog(std::span<const SimJob> jobs)
    : jobs_(jobs), needs_left_(jobs.size()), dependents_(jobs.size()) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    needs_left_[i] = jobs[i].spec.needs.size();
    for (const JobId need : jobs[i].spec.needs) dependents_[index_of(need)].push_back(i);
    if (needs_left_[i] == 0) ready_.push_back(i);
  }
  std::stable_sort(ready_.begin(), ready_.end(), [jobs](std::size_t a, std::size_t b) {
    return jobs[a].spec.priority > jobs[b].spec.priority;
  });
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
    if (--needs_left_[dependent] == 0) add(dependent);
  }
}

void Backlog::add(std::size_t job) {
  const auto before = [this](std::size_t a, std::size_t b) {
    const int first = jobs_[a].spec.priority;
    const int second = jobs_[b].spec.priority;
    return first != second ? first > second : a < b;
  };
  // What was put back stands in front whatever its number: a linear search, not a binary one.
  const auto at = std::find_if(ready_.begin(), ready_.end(),
                               [&](std::size_t other) { return before(job, other); });
  ready_.insert(at, job);
}

}  // namespace plimsoll::sim

#include "sim/fit_jobs.h"

#include <algorithm>
#include <optional>

#include "sim/quantities.h"

namespace plimsoll::sim {
namespace {

// Sums of shares are not exact: so little of the memory is left, as the kernel kills at the line,
// and boxes that want all cores still fit.
constexpr double kRounding = 1e-6;

double mean_cores(const Curve& curve) { return curve.cpu_seconds() / curve.seconds(); }

}  // namespace

FitJobs::FitJobs(SimulatedExecutor& executor, std::span<const SimJob> jobs, Bytes line,
                 double cores, Rule rule)
    : executor_(executor), jobs_(jobs), backlog_(jobs, Backlog::By::input), rule_(rule) {
  boxes_.reserve(jobs.size());
  for (const SimJob& job : jobs) {
    boxes_.push_back({.memory = job.curve.peak_mib() / to_mib(line),
                      .cores = std::min(mean_cores(job.curve) / cores, 1.0)});
  }
  executor_.wake_at(executor_.now());
}

void FitJobs::on_over(JobId job, const policy::AttemptEnd& end) {
  const std::size_t index = index_of(job);
  running_.erase(index);
  if (policy::succeeded(end)) {
    backlog_.done(index);
  } else {
    backlog_.put_back(index);
  }
  start_what_fits();
}

FitJobs::Shares FitJobs::free() const {
  Shares free{.memory = 1 - kRounding, .cores = 1 + kRounding};
  for (const std::size_t job : running_) {
    free.memory -= boxes_[job].memory;
    free.cores -= boxes_[job].cores;
  }
  return free;
}

// The highest is started, the first of equals.
double FitJobs::score(const Shares& free, const Shares& box) const {
  switch (rule_) {
    case Rule::best: return box.memory + box.cores;
    case Rule::dot: return free.memory * box.memory + free.cores * box.cores;
    case Rule::first: break;
  }
  return 0;
}

void FitJobs::start_what_fits() {
  while (true) {
    const Shares free = this->free();
    const auto& ready = backlog_.ready();
    std::optional<std::size_t> best;
    double best_score = 0;
    for (std::size_t place = 0; place < ready.size(); ++place) {
      const Shares& box = boxes_[ready[place]];
      if (box.memory > free.memory || box.cores > free.cores) continue;
      // The highest priority stands first.
      if (best && jobs_[ready[place]].spec.priority < jobs_[ready[*best]].spec.priority) break;
      const double here = score(free, box);
      if (best && here <= best_score) continue;
      best = place;
      best_score = here;
    }
    if (!best) return;
    const std::size_t job = backlog_.take_at(*best);
    running_.insert(job);
    executor_.start({.job = id_of(job)});
  }
}

}  // namespace plimsoll::sim

#include "sim/baselines.h"

#include <algorithm>
#include <chrono>

#include "sim/quantities.h"

namespace plimsoll::sim {
namespace {

// GNU parallel's main loop: what a start takes, and the sleep between two turns, which grows by a
// tenth up to a second while nothing happens.
constexpr Duration kParallelStart = std::chrono::milliseconds(5);
constexpr Duration kParallelSleepMax = std::chrono::seconds(1);

}  // namespace

FixedJobs::FixedJobs(SimulatedExecutor& executor, std::span<const SimJob> jobs,
                     std::size_t jobs_max)
    : executor_(executor), backlog_(jobs, Backlog::By::input), jobs_max_(jobs_max) {
  executor_.wake_at(executor_.now());
}

void FixedJobs::on_over(JobId job, const policy::AttemptEnd& end) {
  --running_;
  if (policy::succeeded(end)) {
    backlog_.done(index_of(job));
  } else {
    backlog_.put_back(index_of(job));
  }
  start_what_may();
}

void FixedJobs::start_what_may() {
  while (running_ < jobs_max_ && !backlog_.empty()) {
    ++running_;
    executor_.start({.job = id_of(backlog_.take())});
  }
}

FreeMemory::FreeMemory(SimulatedExecutor& executor, std::span<const SimJob> jobs, Bytes line,
                       Bytes free_min, std::size_t jobs_max)
    : executor_(executor),
      backlog_(jobs, Backlog::By::input),
      line_(line),
      free_min_(free_min),
      jobs_max_(jobs_max),
      pause_(kParallelStart) {
  executor_.wake_at(executor_.now());
}

void FreeMemory::on_over(JobId job, const policy::AttemptEnd& end) {
  const std::size_t index = index_of(job);
  running_.erase(index);
  if (killed_ == index) killed_.reset();
  if (policy::succeeded(end)) {
    backlog_.done(index);
  } else {
    backlog_.put_back(index);
  }
  pause_ = kParallelStart;
  if (!killed_) executor_.wake_at(executor_.now() + pause_);
}

void FreeMemory::on_wake() {
  const Bytes free = line_ - executor_.used();
  pause_ = std::min(pause_ + pause_ / 10, kParallelSleepMax);
  if (free.count < free_min_.count / 2 && !running_.empty()) {
    killed_ = *running_.rbegin();
    executor_.kill(id_of(*killed_), policy::Outcome::evicted, "less than half of the size is free");
    return;
  }
  if (!backlog_.empty() && running_.size() < jobs_max_ && free >= free_min_) {
    const std::size_t job = backlog_.take();
    running_.insert(job);
    executor_.start({.job = id_of(job)});
    pause_ = kParallelStart;
  }
  if (!running_.empty() || !backlog_.empty()) executor_.wake_at(executor_.now() + pause_);
}

}  // namespace plimsoll::sim

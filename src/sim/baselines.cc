#include "sim/baselines.h"

#include <algorithm>
#include <chrono>

#include "sim/quantities.h"

namespace plimsoll::sim {
namespace {

// Twice the usual gap between two points of a trace: finer gains nothing, coarser wastes room.
constexpr double kCell = 5;  // seconds of the shared clock
constexpr Duration kLook = std::chrono::seconds(5);

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

Clairvoyant::Clairvoyant(SimulatedExecutor& executor, std::span<const SimJob> jobs, Bytes line,
                         double cores, Backlog::By by)
    : executor_(executor), jobs_(jobs), backlog_(jobs, by), line_mib_(to_mib(line)), cores_(cores) {
  outlines_.reserve(jobs.size());
  for (const SimJob& job : jobs) outlines_.push_back(outline_of(job.curve));
  executor_.wake_at(executor_.now());
}

Clairvoyant::Outline Clairvoyant::outline_of(const Curve& curve) {
  Outline outline;
  const auto cell_of = [](double seconds) { return static_cast<std::size_t>(seconds / kCell); };
  outline.mib.resize(cell_of(curve.seconds()) + 2);
  const auto raise = [&outline](std::size_t cell, float mib) {
    outline.mib[cell] = std::max(outline.mib[cell], mib);
    outline.mib[cell + 1] = std::max(outline.mib[cell + 1], mib);
  };
  const std::vector<CurvePoint>& points = curve.points();
  for (std::size_t i = 1; i < points.size(); ++i) {
    const float mib = std::max(points[i - 1].mib, points[i].mib);
    const std::size_t last = cell_of(points[i].seconds);
    for (std::size_t cell = cell_of(points[i - 1].seconds); cell <= last; ++cell) raise(cell, mib);
  }
  const auto highest = std::max_element(outline.mib.begin(), outline.mib.end());
  outline.highest = static_cast<std::size_t>(highest - outline.mib.begin());
  return outline;
}

std::size_t Clairvoyant::cell_now() const {
  return static_cast<std::size_t>(executor_.motion().shared_clock() / kCell);
}

bool Clairvoyant::fits(const Outline& outline, std::size_t from) const {
  const auto fits_at = [&](std::size_t cell) {
    const double planned = from + cell < planned_.size() ? planned_[from + cell] : 0;
    return planned + double{outline.mib[cell]} <= line_mib_;
  };
  if (!fits_at(outline.highest)) return false;
  const std::size_t end = std::min(outline.mib.size(), std::max(planned_.size(), from) - from);
  for (std::size_t cell = 0; cell < end; ++cell) {
    if (!fits_at(cell)) return false;
  }
  return true;
}

void Clairvoyant::plan(Outline& outline, std::size_t from) {
  outline.begun = from;
  if (planned_.size() < from + outline.mib.size()) planned_.resize(from + outline.mib.size());
  for (std::size_t cell = 0; cell < outline.mib.size(); ++cell) {
    planned_[from + cell] += double{outline.mib[cell]};
  }
}

void Clairvoyant::forget(const Outline& outline) {
  for (std::size_t cell = 0; cell < outline.mib.size(); ++cell) {
    planned_[outline.begun + cell] -= double{outline.mib[cell]};
  }
}

void Clairvoyant::on_over(JobId job, const policy::AttemptEnd& end) {
  const std::size_t index = index_of(job);
  // What is left of its plan is wrong now: it went faster or slower than the clock, or was killed.
  forget(outlines_[index]);
  if (policy::succeeded(end)) {
    backlog_.done(index);
  } else {
    backlog_.put_back(index);
  }
  start_what_fits();
}

void Clairvoyant::start_what_fits() {
  const std::size_t now = cell_now();
  double asked = executor_.motion().cores_asked();
  for (std::size_t place = 0; place < backlog_.ready().size() && asked < cores_;) {
    const std::size_t job = backlog_.ready()[place];
    if (!fits(outlines_[job], now)) {
      ++place;
      continue;
    }
    backlog_.take_at(place);
    plan(outlines_[job], now);
    asked += double{jobs_[job].curve.points().front().cores};
    executor_.start({.job = id_of(job)});
  }
  if (!backlog_.empty()) executor_.wake_at(executor_.now() + kLook);
}

}  // namespace plimsoll::sim

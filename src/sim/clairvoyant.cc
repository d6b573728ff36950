#include "sim/clairvoyant.h"

#include <algorithm>
#include <chrono>

#include "sim/quantities.h"

namespace plimsoll::sim {
namespace {

// Twice the usual gap between two points of a trace: finer gains nothing, coarser wastes room.
constexpr double kCell = 5;  // seconds of the shared clock
constexpr Duration kLook = std::chrono::seconds(5);

}  // namespace

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

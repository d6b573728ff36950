#include "sim/policies.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/quantity.h"
#include "base/text.h"
#include "base/units.h"
#include "policy/scheduler/executor.h"
#include "sim/backlog.h"
#include "sim/curves.h"
#include "sim/fit_jobs.h"
#include "sim/quantities.h"
#include "sim/simulated_executor.h"

namespace plimsoll::sim {
namespace {

// Policies to compare with, each as simple as what people use today. All begin by themselves when
// the executor runs; executor and jobs must outlive them.

// `fixed:N`: N jobs at a time, whatever they use. What the kernel kills starts again at once,
// before all others.
class FixedJobs final : public policy::ExecutorObserver {
 public:
  FixedJobs(SimulatedExecutor& executor, std::span<const SimJob> jobs, std::size_t jobs_max);

  void on_job(JobId, const policy::JobSample&) override {}
  void on_machine(const policy::MachineSample&) override {}
  void on_over(JobId job, const policy::AttemptEnd& end) override;
  void on_wake() override { start_what_may(); }

 private:
  void start_what_may();

  SimulatedExecutor& executor_;
  Backlog backlog_;
  std::size_t jobs_max_;
  std::size_t running_ = 0;
};

// `memfree:SIZE`, the rule of GNU parallel's --memfree (20221122): a job starts only while at least
// SIZE of memory is free; when less than half of SIZE is, the youngest is killed, looked again, and
// so on; what was killed goes back to the front of the queue. At most one job per core, as parallel
// has it unless told otherwise. Free is the line less what is used.
class FreeMemory final : public policy::ExecutorObserver {
 public:
  FreeMemory(SimulatedExecutor& executor, std::span<const SimJob> jobs, Bytes line, Bytes free_min,
             std::size_t jobs_max);

  void on_job(JobId, const policy::JobSample&) override {}
  void on_machine(const policy::MachineSample&) override {}
  void on_over(JobId job, const policy::AttemptEnd& end) override;
  void on_wake() override;

 private:
  SimulatedExecutor& executor_;
  Backlog backlog_;
  Bytes line_, free_min_;
  std::size_t jobs_max_;
  std::set<std::size_t> running_;      // the youngest last: parallel goes by sequence number
  std::optional<std::size_t> killed_;  // it waits until that one is dead
  Duration pause_;                     // until it looks again
};

// `clairvoyant`: knows the true curves, and admits a job where the sum of the curves of all that
// run, from now to their ends, never passes the line. Greedy: the longest first, then whatever fits
// in between, while fewer cores are asked for than there are.
//
// `clairvoyant:class` packs with the same knowledge, but orders as if it had only the lengths of
// classes: nobody can do much better who is not told which job of a class is the long one.
//
// It plans on the shared clock of the machine, on which the curves of all jobs that use CPU keep
// their shape however many share the cores, in cells of kCell: within a cell it takes each curve at
// its highest. Executor and jobs must outlive it.
class Clairvoyant final : public policy::ExecutorObserver {
 public:
  Clairvoyant(SimulatedExecutor& executor, std::span<const SimJob> jobs, Bytes line, double cores,
              Backlog::By by);

  void on_job(JobId, const policy::JobSample&) override {}
  void on_machine(const policy::MachineSample&) override {}
  void on_over(JobId job, const policy::AttemptEnd& end) override;
  void on_wake() override { start_what_fits(); }

 private:
  // The highest memory of a curve in each cell, wherever in its first cell it begins.
  struct Outline {
    std::vector<float> mib;
    std::size_t highest = 0;  // the cell; what does not fit mostly fails there
    std::size_t begun = 0;    // the cell in which it started
  };

  [[nodiscard]] static Outline outline_of(const Curve& curve);
  [[nodiscard]] std::size_t cell_now() const;
  [[nodiscard]] bool fits(const Outline& outline, std::size_t from) const;
  void plan(Outline& outline, std::size_t from);
  void forget(const Outline& outline);
  void start_what_fits();

  SimulatedExecutor& executor_;
  std::span<const SimJob> jobs_;
  Backlog backlog_;
  double line_mib_;
  double cores_;
  std::vector<Outline> outlines_;
  std::vector<double> planned_;  // MiB in each cell, from the beginning of time
};

// Twice the usual gap between two points of a trace: finer gains nothing, coarser wastes room.
constexpr double kCell = 5;  // seconds of the shared clock
constexpr Duration kLook = std::chrono::seconds(5);

// GNU parallel's main loop: what a start takes, and the sleep between two turns, which grows by a
// tenth up to a second while nothing happens.
constexpr Duration kParallelStart = std::chrono::milliseconds(5);
constexpr Duration kParallelSleepMax = std::chrono::seconds(1);

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

}  // namespace

Result<Policy> parse_policy(std::string_view text, Bytes line) {
  std::string_view rest = text;
  const std::string_view name = take_until(rest, ':');
  const bool has_value = name.size() < text.size();
  if (name == "plimsoll" && !has_value) return GovernorPolicy{};
  if (name == "clairvoyant" && !has_value) return ClairvoyantPolicy{};
  if (text == "clairvoyant:class") return ClairvoyantPolicy{Backlog::By::class_length};
  if (text == "fit:best") return FitPolicy{FitJobs::Rule::best};
  if (text == "fit:first") return FitPolicy{FitJobs::Rule::first};
  if (text == "fit:dot") return FitPolicy{FitJobs::Rule::dot};
  if (name == "fixed") {
    const auto jobs = to_u64(rest);
    if (!jobs || *jobs == 0) {
      return fail("found \"" + std::string(text) + "\", expected fixed:N with N of at least 1");
    }
    return FixedPolicy{static_cast<std::size_t>(*jobs)};
  }
  if (name == "memfree") {
    const auto size = parse_bytes_or_share(rest, line);
    if (!size) {
      return fail("found \"" + std::string(text) +
                  "\", expected memfree:SIZE such as memfree:4G or memfree:25%");
    }
    return MemfreePolicy{*size};
  }
  return fail("found \"" + std::string(text) +
              "\", expected plimsoll, fixed:N, memfree:SIZE, fit:best, fit:first, fit:dot, "
              "clairvoyant or clairvoyant:class");
}

MachineConfig machine_for(const Policy& policy, MachineConfig machine) {
  const bool governed = std::holds_alternative<GovernorPolicy>(policy);
  machine.wall = governed ? Wall::throttle : Wall::kill;
  machine.sampling = governed ? Sampling::jobs_and_machine : Sampling::none;
  // Who knows all knows how long a start will take, and has left no room for it to be otherwise.
  if (std::holds_alternative<ClairvoyantPolicy>(policy)) machine.noise = Noise::none;
  return machine;
}

std::unique_ptr<policy::ExecutorObserver> make_baseline(const Policy& policy,
                                                        SimulatedExecutor& executor,
                                                        std::span<const SimJob> jobs,
                                                        const MachineConfig& machine) {
  if (const auto* fixed = std::get_if<FixedPolicy>(&policy)) {
    return std::make_unique<FixedJobs>(executor, jobs, fixed->jobs_max);
  }
  if (const auto* memfree = std::get_if<MemfreePolicy>(&policy)) {
    const auto per_core = static_cast<std::size_t>(std::max(std::floor(machine.cores), 1.0));
    return std::make_unique<FreeMemory>(executor, jobs, machine.line, memfree->free_min, per_core);
  }
  if (const auto* fit = std::get_if<FitPolicy>(&policy)) {
    return std::make_unique<FitJobs>(executor, jobs, machine.line, machine.cores, fit->rule);
  }
  const auto* clairvoyant = std::get_if<ClairvoyantPolicy>(&policy);
  PLIMSOLL_CHECK(clairvoyant != nullptr);
  return std::make_unique<Clairvoyant>(executor, jobs, machine.line, machine.cores,
                                       clairvoyant->by);
}

}  // namespace plimsoll::sim

// The counters of a trace: what was in use, by whom, and how long tasks stood still for it.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "analysis/trace/trace.h"

namespace plimsoll::analysis {
namespace {

using Points = std::vector<std::pair<Duration, double>>;
using Steps = std::map<Duration, double>;  // what is added at each moment

Points summed(const Steps& steps) {
  Points points;
  double sum = 0;
  for (const auto& [at, step] : steps) {
    sum += step;
    points.emplace_back(at, std::max(sum, 0.0));  // sums of fractions may miss zero
  }
  return points;
}

// The lowest and the highest of each of so many stretches, in order of time.
Points thinned(Points points) {
  if (points.size() <= kTracePointsMax) return points;
  constexpr std::size_t kStretches = kTracePointsMax / 2 - 1;
  Points kept{points.front()};
  const std::size_t inner = points.size() - 2;
  for (std::size_t i = 0; i < kStretches; ++i) {
    const auto at = [&](std::size_t n) {
      return points.begin() + 1 + static_cast<std::ptrdiff_t>(n * inner / kStretches);
    };
    if (at(i) == at(i + 1)) continue;
    const auto [low, high] = std::minmax_element(
        at(i), at(i + 1), [](const auto& a, const auto& b) { return a.second < b.second; });
    kept.push_back(*std::min(low, high));
    if (low != high) kept.push_back(*std::max(low, high));
  }
  kept.push_back(points.back());
  return kept;
}

// Samples are of the last attempt.
using LastAttempts = std::unordered_map<std::string, const TimelineAttempt*>;

LastAttempts last_attempts(const Timeline& timeline) {
  LastAttempts last;
  for (const TimelineAttempt& attempt : timeline.attempts) last[attempt.job] = &attempt;
  return last;
}

void add_used(Steps& steps, const TracedJob& job, const TimelineAttempt& attempt) {
  double used = 0;
  for (const TraceLook& look : job.looks) {
    const Duration at = attempt.from + look.t;
    if (!look.used || at >= attempt.to) continue;
    steps[at] += to_double(*look.used) - used;
    used = to_double(*look.used);
  }
  if (used > 0) steps[attempt.to] -= used;
}

// Mean use between two looks. The last look may be later than the end that events tell.
void add_cores(Steps& steps, const TracedJob& job, const TimelineAttempt& attempt) {
  Duration t{}, cpu{};
  for (const TraceLook& look : job.looks) {
    if (!look.cpu || look.t <= t) continue;
    const double cores = to_seconds(std::max(*look.cpu - cpu, Duration{})) / to_seconds(look.t - t);
    steps[attempt.from + t] += cores;
    steps[attempt.from + look.t] -= cores;
    t = look.t;
    cpu = *look.cpu;
  }
}

std::vector<TraceCounter> counts_of(const Timeline& timeline) {
  std::vector<TraceCounter> counters = {
      {.name = "jobs running", .unit = TraceUnit::count, .points = {}},
      {.name = "jobs paused", .unit = TraceUnit::count, .points = {}},
      {.name = "jobs waiting", .unit = TraceUnit::count, .points = {}}};
  for (const Counted& counted : timeline.counts) {
    counters[0].points.emplace_back(counted.at, static_cast<double>(counted.running));
    counters[1].points.emplace_back(counted.at, static_cast<double>(counted.paused));
    counters[2].points.emplace_back(counted.at, static_cast<double>(counted.waiting));
  }
  return counters;
}

Points line_points(const TracedRun& run) {
  Points points;
  for (const report::RecordedEvent& event : *run.events) {
    if (event.kind != policy::EventKind::line) continue;
    for (const auto& [name, value] : event.numbers) {
      if (name == "line_bytes") points.emplace_back(event.t, value);
    }
  }
  // meta.json has the line that was set last.
  if (points.empty() && run.entry->meta.line) {
    points.emplace_back(Duration{}, to_double(*run.entry->meta.line));
  }
  return points;
}

// Stalled time from one sample to the next, in per cent of it.
Points stall_points(const std::vector<counters::SystemSample>& system,
                    std::optional<counters::Pressure> counters::SystemSample::* resource) {
  Points points;
  const auto total = [resource](const counters::SystemSample& sample) -> std::optional<Duration> {
    const auto& pressure = sample.*resource;
    return pressure && pressure->some ? std::optional(pressure->some->total) : std::nullopt;
  };
  constexpr double kInPercent = 100;
  for (std::size_t i = 1; i < system.size(); ++i) {
    const auto before = total(system[i - 1]), after = total(system[i]);
    const Duration passed = system[i].at - system[i - 1].at;
    if (!before || !after || passed <= Duration{}) continue;
    points.emplace_back(system[i - 1].at.time_since_epoch(),
                        kInPercent * to_seconds(*after - *before) / to_seconds(passed));
  }
  return points;
}

Points available_points(const std::vector<counters::SystemSample>& system) {
  Points points;
  for (const counters::SystemSample& sample : system) {
    const auto found = sample.meminfo.find("MemAvailable");
    if (found == sample.meminfo.end()) continue;
    points.emplace_back(sample.at.time_since_epoch(), to_double(found->second));
  }
  return points;
}

}  // namespace

std::vector<TraceCounter> counters_of(const TracedRun& run, const Timeline& timeline) {
  const LastAttempts last = last_attempts(timeline);
  Steps used, cores;
  for (const TracedJob& job : run.jobs) {
    const auto attempt = last.find(job.id);
    if (attempt == last.end()) continue;
    add_used(used, job, *attempt->second);
    add_cores(cores, job, *attempt->second);
  }
  using System = counters::SystemSample;
  std::vector<TraceCounter> counters = {
      {.name = "memory used by jobs", .unit = TraceUnit::bytes, .points = summed(used)},
      {.name = "line", .unit = TraceUnit::bytes, .points = line_points(run)},
      {.name = "memory available",
       .unit = TraceUnit::bytes,
       .points = available_points(run.system)},
      {.name = "cores used by jobs", .unit = TraceUnit::cores, .points = summed(cores)},
      {.name = "stall for CPU",
       .unit = TraceUnit::percent,
       .points = stall_points(run.system, &System::cpu_pressure)},
      {.name = "stall for memory",
       .unit = TraceUnit::percent,
       .points = stall_points(run.system, &System::memory_pressure)},
      {.name = "stall for I/O",
       .unit = TraceUnit::percent,
       .points = stall_points(run.system, &System::io_pressure)}};
  for (TraceCounter& counter : counts_of(timeline)) counters.push_back(std::move(counter));
  for (TraceCounter& counter : counters) counter.points = thinned(std::move(counter.points));
  std::erase_if(counters, [](const TraceCounter& counter) { return counter.points.empty(); });
  return counters;
}

}  // namespace plimsoll::analysis

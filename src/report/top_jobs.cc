#include "report/top_jobs.h"

#include <algorithm>

#include "policy/job/attempt.h"

namespace plimsoll::report {
namespace {

void take_longer(std::optional<Stall>& longest, const std::optional<counters::Pressure>& pressure,
                 Resource resource) {
  if (!pressure || !pressure->some) return;
  const Duration some = pressure->some->total;
  if (!longest || some > longest->some) longest = Stall{.some = some, .resource = resource};
}

std::optional<std::uint64_t> weight_of(const JobFigures& figures, Weight by) {
  const auto count = [](Duration time) { return static_cast<std::uint64_t>(time.count()); };
  switch (by) {
    case Weight::memory: return figures.peak ? std::optional(figures.peak->count) : std::nullopt;
    case Weight::cpu: return figures.cpu ? std::optional(count(*figures.cpu)) : std::nullopt;
    case Weight::stall:
      return figures.stall ? std::optional(count(figures.stall->some)) : std::nullopt;
  }
  return std::nullopt;
}

// Of a step of a build only its parent knows how it has exited: nothing bad is known of it.
bool has_succeeded(const JobReport& report) {
  if (policy::succeeded(report.outcome, report.exit_code)) return true;
  return report.outcome == policy::Outcome::exited && !report.exit_code;
}

}  // namespace

JobFigures figures_of(const JobReport& report) {
  JobFigures figures{
      .id = report.id,
      .number = report.number,
      .command = policy::command_line(report.command),
      .outcome = report.outcome,
      .how = policy::describe(
          {.outcome = report.outcome, .exit_code = report.exit_code, .signal = report.signal}),
      .reason = report.reason,
      .succeeded = has_succeeded(report),
      .wall = report.times.wall,
      .cpu = {},
      .peak = {},
      .stall = {},
  };
  if (report.usage) {
    const counters::Sample& totals = report.usage->totals;
    figures.cpu = totals.cpu.usage;
    figures.peak = totals.memory.peak ? totals.memory.peak : totals.memory.sampled_peak;
    take_longer(figures.stall, totals.cpu.pressure, Resource::cpu);
    take_longer(figures.stall, totals.memory.pressure, Resource::memory);
    take_longer(figures.stall, totals.io.pressure, Resource::io);
  }
  return figures;
}

void TopJobs::add(const JobReport& report) {
  const JobFigures figures = figures_of(report);
  ++jobs_;
  commands_.add(figures.command);
  keep_heaviest(by_memory_, Weight::memory, figures);
  keep_heaviest(by_cpu_, Weight::cpu, figures);
  keep_heaviest(by_stall_, Weight::stall, figures);
  if (figures.succeeded) {
    ++succeeded_;
  } else if (figures.outcome == policy::Outcome::skipped) {
    ++skipped_;
  } else if (figures.outcome == policy::Outcome::cancelled) {
    ++cancelled_;
  } else {
    const auto place = std::upper_bound(
        failed_.begin(), failed_.end(), figures.number,
        [](std::uint64_t number, const JobFigures& job) { return number < job.number; });
    failed_.insert(place, figures);
    if (failed_.size() > kFailedListedMax) failed_.pop_back();
  }
}

void TopJobs::keep_heaviest(std::vector<JobFigures>& kept, Weight by,
                            const JobFigures& figures) const {
  const auto weight = weight_of(figures, by);
  if (!weight || *weight == 0) return;
  const auto place = std::upper_bound(
      kept.begin(), kept.end(), *weight,
      [by](std::uint64_t w, const JobFigures& f) { return w > *weight_of(f, by); });
  if (place == kept.end() && kept.size() >= heaviest_max_) return;
  kept.insert(place, figures);
  if (kept.size() > heaviest_max_) kept.pop_back();
}

const std::vector<JobFigures>& TopJobs::heaviest(Weight by) const {
  switch (by) {
    case Weight::memory: return by_memory_;
    case Weight::cpu: return by_cpu_;
    case Weight::stall: break;
  }
  return by_stall_;
}

}  // namespace plimsoll::report

#include "cli/runs/whatif_run.h"

#include <fcntl.h>

#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/file.h"
#include "cli/runs/simulated_jobs.h"
#include "store/runs/recorded_report.h"

namespace plimsoll::cli {

namespace {

std::optional<double> number_of(const report::RecordedEvent& event, std::string_view name) {
  for (const auto& [known, value] : event.numbers) {
    if (known == name) return value;
  }
  return std::nullopt;
}

// By the decision to start the first job of a class, it is told how many attempts of it were known.
std::vector<bool> known_jobs(const std::vector<sim::SimJob>& jobs,
                             const std::vector<report::RecordedEvent>& events) {
  std::unordered_map<std::string_view, std::string_view> classes;
  for (const sim::SimJob& job : jobs) classes.emplace(job.spec.name, job.spec.job_class);
  std::unordered_map<std::string_view, bool> is_known;
  for (const report::RecordedEvent& event : events) {
    if (event.kind != policy::EventKind::admitted) continue;
    const auto job_class = classes.find(event.job);
    const auto attempts = number_of(event, "attempts_known");
    if (job_class != classes.end() && attempts) is_known.emplace(job_class->second, *attempts > 0);
  }
  std::vector<bool> known;
  for (const sim::SimJob& job : jobs) {
    const auto found = is_known.find(job.spec.job_class);
    if (found == is_known.end()) return {};
    known.push_back(found->second);
  }
  return known;
}

}  // namespace

Result<WhatifRun> whatif_run_of(const RecordedRun& run) {
  auto jobs = simulated_jobs_of(run);
  if (!jobs) return pass(std::move(jobs));
  if (!jobs->cores || !jobs->line) {
    return fail("the record of run " + run.entry.id + " does not say its cores and its line");
  }
  const auto text = read_text_at(AT_FDCWD, run.entry.path + "/summary.json");
  const auto summary = report::parse_run_summary(text.value_or(""));
  std::vector<bool> known = known_jobs(jobs->jobs, run.events);
  return WhatifRun{.id = run.entry.id,
                   .jobs = std::move(jobs->jobs),
                   .machine = {.cores = *jobs->cores, .line = *jobs->line},
                   .makespan = run.entry.figures ? run.entry.figures->makespan : std::nullopt,
                   .other_load = summary ? summary->cores_of_others.value_or(0) : 0,
                   .cores_of_machine = summary ? summary->cores_of_machine : std::nullopt,
                   .known = std::move(known)};
}

std::vector<WhatifMachine> machines_around(const WhatifMachine& machine) {
  constexpr double kHalf = 0.5;
  std::vector<WhatifMachine> machines;
  for (const Bytes line :
       {Bytes{machine.line.count / 2}, machine.line, Bytes{machine.line.count * 2}}) {
    for (const double factor : {kHalf, 1.0, 2.0}) {
      machines.push_back({.cores = machine.cores * factor, .line = line});
    }
  }
  return machines;
}

double replay_cost(const WhatifRun& run) {
  return static_cast<double>(run.jobs.size()) * to_seconds(run.makespan.value_or(Duration{}));
}

}  // namespace plimsoll::cli

#include "cli/runs/whatif_run.h"

#include <fcntl.h>

#include "base/file.h"
#include "cli/runs/simulated_jobs.h"
#include "store/runs/recorded_report.h"

namespace plimsoll::cli {

Result<WhatifRun> whatif_run_of(const RecordedRun& run) {
  auto jobs = simulated_jobs_of(run);
  if (!jobs) return pass(std::move(jobs));
  if (!jobs->cores || !jobs->line) {
    return fail("the record of run " + run.entry.id + " does not say its cores and its line");
  }
  const auto text = read_text_at(AT_FDCWD, run.entry.path + "/summary.json");
  const auto summary = report::parse_run_summary(text.value_or(""));
  return WhatifRun{.id = run.entry.id,
                   .jobs = std::move(jobs->jobs),
                   .machine = {.cores = *jobs->cores, .line = *jobs->line},
                   .makespan = run.entry.figures ? run.entry.figures->makespan : std::nullopt,
                   .other_load = summary ? summary->cores_of_others.value_or(0) : 0};
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

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/runs/recorded_runs.h"
#include "sim/curves.h"

// What `plimsoll simulate` is given, however it is named.
namespace plimsoll::cli {

struct SimulatedJobs {
  std::vector<sim::SimJob> jobs;
  // Of a recorded run: what it had.
  std::optional<double> cores{};
  std::optional<Bytes> line{};
};

// A file of curves, or of job reports; else a recorded run, as its directory, its jobs.jsonl, its
// id, the beginning of one, or `last`.
Result<SimulatedJobs> read_simulated_jobs(const std::string& name);

// The jobs of a recorded run; an error if none of them has ended.
Result<SimulatedJobs> simulated_jobs_of(const RecordedRun& run);

}  // namespace plimsoll::cli

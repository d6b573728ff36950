#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/runs/recorded_runs.h"
#include "sim/curves.h"
#include "store/runs/event_log.h"
#include "store/runs/recorded_job.h"

// What `plimsoll simulate` is given, however it is named.
namespace plimsoll::cli {

// A recorded run as jobs of a simulation. Those whose reports have no samples are flat: as much as
// they had at their most, all the time.
//
// The curve of a job is that of its last attempt as if it had had the machine to itself: without
// the time that it was frozen, which `events` tell, nor that in which it waited for a core, as far
// as the kernel has counted it. Its end is that of its main process, and it keeps its memory until
// then. Jobs that never started are left out, and so are needs of them. The order is that of
// `recorded`, the ids are its places.
[[nodiscard]] std::vector<sim::SimJob> replay_of(const std::vector<report::RecordedJob>& recorded,
                                                 const std::vector<report::RecordedEvent>& events);

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

#pragma once

#include <vector>

#include "base/result.h"
#include "cli/runs/recorded_runs.h"
#include "cli/runs/whatif_grid.h"

// What of a recorded run is replayed on other machines.
namespace plimsoll::cli {

// With the load of other programs that was recorded. An error: no job of it has ended, or its cores
// and its line were not recorded.
Result<WhatifRun> whatif_run_of(const RecordedRun& run);

// The machine of the run, and those with half and twice its cores and its line, by line and then by
// cores.
[[nodiscard]] std::vector<WhatifMachine> machines_around(const WhatifMachine& machine);

// What a replay costs grows with the jobs and with the time for which they are simulated: the
// product of both, in seconds. 0: it is not known how long the run took.
[[nodiscard]] double replay_cost(const WhatifRun& run);

// The grid around a run of this cost takes a second or less, at 0.05 to 0.2 ms for each unit.
inline constexpr double kCheapReplay = 5'000;

}  // namespace plimsoll::cli

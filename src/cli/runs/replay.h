#pragma once

#include <vector>

#include "sim/curves.h"
#include "store/runs/event_log.h"
#include "store/runs/recorded_job.h"

// A recorded run as jobs of a simulation.
namespace plimsoll::cli {

// Jobs whose reports have no samples are flat: as much as they had at their most, all the time.
//
// The curve of a job is that of its last attempt as if it had had the machine to itself: without
// the time that it was frozen, which `events` tell, nor that in which it waited for a core, as far
// as the kernel has counted it. Its end is that of its main process, and it keeps its memory until
// then. Jobs that never started are left out, and so are needs of them. The order is that of
// `recorded`, the ids are its places.
[[nodiscard]] std::vector<sim::SimJob> replay_of(const std::vector<report::RecordedJob>& recorded,
                                                 const std::vector<report::RecordedEvent>& events);

}  // namespace plimsoll::cli

#pragma once

#include "measure/usage.h"
#include "record/json_text.h"

// One look at a job or at the machine in the shape of BuildKit's: its names, its units, and its
// rules for what is left out, what is null and what is zero (docs/formats/buildkit.md). Keys stand
// in the order in which BuildKit declares them. For buildkit.cc alone.
namespace plimsoll::record {

// A `Sample`: counters since the attempt's start, network traffic as the other end of the job's
// wire sees it.
Json buildkit_sample(const measure::Sample& sample);

// A `SysCPUStat`: seconds, with three decimals.
Json buildkit_cpu_times(const measure::SystemSample::Cpu& cpu);

// A `SysSample`: counters since boot, memory in KiB.
Json buildkit_system_sample(const measure::SystemSample& sample);

}  // namespace plimsoll::record

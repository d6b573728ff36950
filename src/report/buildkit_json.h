#pragma once

#include "kernel/counters/usage.h"
#include "report/json_text.h"

// One look at a job or at the machine in the shape of BuildKit's: its names, its units, and its
// rules for what is left out, what is null and what is zero (docs/formats/buildkit.md). Keys stand
// in the order in which BuildKit declares them. For buildkit.cc alone.
namespace plimsoll::report {

// A `Sample`: counters since the attempt's start, network traffic as the other end of the job's
// wire sees it.
Json buildkit_sample(const counters::Sample& sample);

// A `SysCPUStat`: seconds, with three decimals.
Json buildkit_cpu_times(const counters::SystemSample::Cpu& cpu);

// A `SysSample`: counters since boot, memory in KiB.
Json buildkit_system_sample(const counters::SystemSample& sample);

}  // namespace plimsoll::report

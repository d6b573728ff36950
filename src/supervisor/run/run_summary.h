#pragma once

#include "report/report.h"
#include "supervisor/host_scheduler.h"

namespace plimsoll::supervisor {

// What a host scheduler knows of its run, into the summary: the governor's counts, the use of pool
// and machine, the monitors. When all jobs have ended; `cpu_usage` is to be there before.
void add_figures(report::RunSummary& summary, HostScheduler& jobs);

// The wall and what it has cost; before HostScheduler::end().
void add_pool_limits(report::RunSummary& summary, const PoolLimits& wall,
                     const cgroup::Group& pool);

// Where the output of a job that has started is, `results` being the directory of --results.
[[nodiscard]] report::OutputPaths output_paths_of(const policy::JobSpec& job,
                                                  const std::optional<std::string>& results);

// Processes that the kernel killed in one attempt; of a group killed whole `oom_kill` counts one
// twice (Linux 6.1 and 6.12), so that its own count goes first.
[[nodiscard]] std::uint64_t oom_kills_of(const counters::MemoryEvents& events);

}  // namespace plimsoll::supervisor

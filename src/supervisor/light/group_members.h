#pragma once

#include <optional>
#include <string>

#include "base/units.h"
#include "supervisor/host_executor.h"

namespace plimsoll::supervisor {

// Whether the process is in this group of the run's tree itself in every hierarchy that the group
// is in: one that is elsewhere in any belongs to somebody else as well, to a run within the job,
// say. `path`: "/RUN/pool/job-1", as /proc/PID/cgroup ends.
[[nodiscard]] bool is_member(int pid, const std::string& path, const cgroup::Group& group);

// The job in whose group the process is, as is_member() has it; of an attempt that runs. `place`:
// that of the process (Supervisor::place_in_pool()); `run`: the name of the run's directory in the
// cgroup tree.
[[nodiscard]] std::optional<JobId> running_job_of(int pid, const std::string& place,
                                                  const std::string& run,
                                                  const HostExecutor& executor);

}  // namespace plimsoll::supervisor

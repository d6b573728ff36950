#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cli/command/options.h"
#include "policy/job/job.h"
#include "supervisor/supervisor.h"

namespace plimsoll::cli {

// What runs without groups, in the words of a message.
enum class Governed : std::uint8_t { jobs, steps };

// Where jobs run without groups, says so in a line on standard error, and what that can't promise;
// nothing if quiet. An error if a job has a limit that only a group can keep: then nothing is to be
// started.
// `weight` is that of all jobs together, if one was asked for: no process has such a thing either.
Result<void> announce(const supervisor::Supervisor& supervisor,
                      const std::vector<policy::JobSpec>& jobs,
                      const std::optional<unsigned>& weight, Verbosity verbosity,
                      Governed what = Governed::jobs);

}  // namespace plimsoll::cli

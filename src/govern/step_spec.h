#pragma once

#include "govern/exec.h"
#include "policy/job/job.h"

namespace plimsoll::govern {

// The job that a step is: what its process executes, as `sh -c` is given it where it is that, in
// the directory of the process. Nobody runs it again but its parent.
[[nodiscard]] policy::JobSpec spec_for(JobId id, const Exec& exec);

// Whether the command says more than what the process executes next: it is a shell's text.
[[nodiscard]] bool is_shell_text(const Exec& exec);

}  // namespace plimsoll::govern

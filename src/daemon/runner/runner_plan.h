#pragma once

#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "daemon/grpc/status.h"
#include "daemon/runner/action_request.h"
#include "daemon/runner/build_directory.h"
#include "supervisor/attempt.h"

namespace plimsoll::daemon {

// What an action's attempt is to be started with.
struct RunPlan {
  guardian::SpawnRequest spawn;  // without stdio
  UniqueFd out, err;
};

// How an order becomes a process, or why it can't: arguments, paths, program, environment and log
// files, in this order, each with the code and the text that bb_runner's clients know. Looks at
// files, and makes the two logs: may block.
struct Planned {
  RunPlan plan;
  Status status;
};
Planned plan_run(const ActionRequest& order, const RunnerSettings& settings);

// The file that a name without a slash means: the first in the directories of `search_path` that is
// there, is no directory and may be executed. Directories that are not absolute are below `cwd`.
// The answer keeps the form of the directory's name; empty: there is none.
std::string find_program(const std::string& name, const std::string& search_path,
                         const std::string& cwd);

// What the failure of a start means to the client: by its error number.
Code code_of_spawn_errno(int number);
// The status of an action that could not be started.
Status status_of(const guardian::StartFailed& failure);

}  // namespace plimsoll::daemon

#pragma once

#include <buildbarn/runner/runner.pb.h>
#include "daemon/runner/action_request.h"
#include "daemon/runner/runner_answer.h"

// Between messages of Buildbarn's and our values.
namespace plimsoll::daemon {

ActionRequest order_of(const buildbarn::runner::RunRequest& request);

// An answer whose status is ok. The usage of the process comes first, that of the group second.
void fill(buildbarn::runner::RunResponse& response, const RunAnswer& answer);

}  // namespace plimsoll::daemon

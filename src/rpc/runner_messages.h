#pragma once

#include <buildbarn/runner/runner.pb.h>
#include "rpc/runner_answer.h"
#include "rpc/runner_order.h"

// Between messages of Buildbarn's and our values.
namespace plimsoll::rpc {

RunOrder order_of(const buildbarn::runner::RunRequest& request);

// An answer whose status is ok. The usage of the process comes first, that of the group second.
void fill(buildbarn::runner::RunResponse& response, const RunAnswer& answer);

}  // namespace plimsoll::rpc

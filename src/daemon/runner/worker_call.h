#pragma once

#include <cstdint>

#include "daemon/grpc/status.h"
#include "daemon/runner/runner_answer.h"

namespace plimsoll::daemon {

// Names one call of a worker's, from its arrival to its answer.
enum class CallId : std::uint64_t {};

// A call that waits for its one answer, which comes from the loop's thread. It may be gone when the
// answer returns.
class WorkerCall {
 public:
  virtual ~WorkerCall() = default;
  // To CheckReadiness.
  virtual void checked(const Status& status) = 0;
  // To Run.
  virtual void ran(const RunAnswer& answer) = 0;
};

}  // namespace plimsoll::daemon

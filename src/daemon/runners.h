#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemon/grpc/gate.h"
#include "daemon/grpc/server.h"
#include "daemon/runner/cleaning_command.h"
#include "daemon/runner/file_lanes.h"
#include "daemon/runner/runner.h"
#include "daemon/runner/runner_config.h"
#include "daemon/runner/runner_service.h"

namespace plimsoll::daemon {

// What a runner of this machine works with; all must outlive it.
struct RunnersDeps {
  supervisor::Supervisor& supervisor;
  JobRunner& jobs;
  Reporter& reporter;
  Gate& gate;
};

// One runner with the servers that its file asks for.
class Runners {
 public:
  // Listens. An error names the place.
  static Result<std::unique_ptr<Runners>> start(const RunnersDeps& deps, RunnerConfig config);
  Runners(const Runners&) = delete;
  Runners& operator=(const Runners&) = delete;
  // The servers first: what they still ask is answered by the closed gate.
  ~Runners();

  [[nodiscard]] Runner& runner() { return runner_; }

 private:
  Runners(const RunnersDeps& deps, RunnerSettings settings);
  Result<void> listen(Gate& gate, const RunnerConfig::Listener& listener);

  FileLanes files_;
  CleaningAttempt cleaning_;
  Runner runner_;
  std::vector<std::unique_ptr<RunnerService>> services_;
  std::vector<std::unique_ptr<Server>> servers_;
};

}  // namespace plimsoll::daemon

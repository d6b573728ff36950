#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daemon/grpc/gate.h"
#include "daemon/grpc/server.h"
#include "daemon/runner/runner.h"
#include "daemon/runner/runner_config.h"

namespace plimsoll::daemon {

// One runner with the servers that its file asks for.
class Runners {
 public:
  // Listens. All must outlive this. An error names the place.
  static Result<std::unique_ptr<Runners>> start(RunnerDeps deps, Gate& gate, RunnerConfig config);
  Runners(const Runners&) = delete;
  Runners& operator=(const Runners&) = delete;
  // The servers first: what they still ask is answered by the closed gate.
  ~Runners();

  [[nodiscard]] Runner& runner() { return runner_; }

 private:
  Runners(RunnerDeps deps, RunnerSettings settings)
      : runner_(std::move(deps), std::move(settings)) {}
  Result<void> listen(Gate& gate, const RunnerConfig::Listener& listener);

  Runner runner_;
  std::vector<std::unique_ptr<RunnerService>> services_;
  std::vector<std::unique_ptr<Server>> servers_;
};

}  // namespace plimsoll::daemon

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rpc/gate.h"
#include "rpc/runner.h"
#include "rpc/runner_config.h"
#include "rpc/server.h"

namespace plimsoll::daemon {

// One runner with the servers that its file asks for.
class Runners {
 public:
  // Listens. All must outlive this. An error names the place.
  static Result<std::unique_ptr<Runners>> start(rpc::RunnerGround ground, rpc::Gate& gate,
                                                rpc::RunnerConfig config);
  Runners(const Runners&) = delete;
  Runners& operator=(const Runners&) = delete;
  // The servers first: what they still ask is answered by the closed gate.
  ~Runners();

  [[nodiscard]] rpc::Runner& runner() { return runner_; }

 private:
  Runners(rpc::RunnerGround ground, rpc::RunnerSettings settings)
      : runner_(std::move(ground), std::move(settings)) {}
  Result<void> listen(rpc::Gate& gate, const rpc::RunnerConfig::Listener& listener);

  rpc::Runner runner_;
  std::vector<std::unique_ptr<rpc::RunnerService>> services_;
  std::vector<std::unique_ptr<rpc::Server>> servers_;
};

}  // namespace plimsoll::daemon

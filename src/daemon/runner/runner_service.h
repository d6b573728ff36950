#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "daemon/grpc/gate.h"
#include "daemon/runner/action_request.h"
#include "daemon/runner/runner_answer.h"

namespace grpc {
class Service;
}

namespace plimsoll::daemon {

// Names one call, from its arrival to its answer.
enum class CallId : std::uint64_t {};

// Who does what the service is asked; all from the loop's thread. Every `answer` is called once,
// from the loop's thread as well; cancel() may come after it, or for a call that is not known any
// more, and does not change that.
struct RunnerHandlers {
  std::function<void(CallId, const std::string& path, std::function<void(Status)> answer)> check;
  std::function<void(CallId, ActionRequest order, std::function<void(RunAnswer)> answer)> run;
  std::function<void(CallId)> cancel;
};

// buildbarn.runner.Runner as a service of a gRPC server: messages in, handlers called through the
// gate, messages out. It holds nothing but the calls that are under way.
class RunnerService {
 public:
  // `gate` must outlive this, and what `handlers` refer to the gate's last closure.
  RunnerService(Gate& gate, RunnerHandlers handlers);
  RunnerService(const RunnerService&) = delete;
  RunnerService& operator=(const RunnerService&) = delete;
  ~RunnerService();

  // For Server::start(); of one server.
  [[nodiscard]] grpc::Service* service();

 private:
  class Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace plimsoll::daemon

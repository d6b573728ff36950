#pragma once

#include <memory>

#include "daemon/grpc/gate.h"

namespace grpc {
class Service;
}

namespace plimsoll::daemon {

class Runner;

// buildbarn.runner.Runner as a service of a gRPC server: messages in, the runner asked through the
// gate, messages out. It holds nothing but the calls that are under way.
class RunnerService {
 public:
  // `gate` must outlive this, and `runner` the gate's last closure.
  RunnerService(Gate& gate, Runner& runner);
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

#pragma once

#include <memory>

#include "daemon/grpc/callers.h"
#include "daemon/grpc/gate.h"

namespace grpc {
class Service;
}

namespace plimsoll::daemon {

class GovernorStreams;

// plimsoll.v1.Governor as a service of one gRPC server, whose clients are all the same user.
class GovernorService {
 public:
  // `gate` must outlive this, `streams` need not: without them calls are refused.
  GovernorService(Gate& gate, std::weak_ptr<GovernorStreams> streams, Callers callers);
  GovernorService(const GovernorService&) = delete;
  GovernorService& operator=(const GovernorService&) = delete;
  ~GovernorService();

  [[nodiscard]] grpc::Service* service();

 private:
  class Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace plimsoll::daemon

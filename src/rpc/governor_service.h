#pragma once

#include <memory>

#include "rpc/callers.h"
#include "rpc/gate.h"

namespace grpc {
class Service;
}

namespace plimsoll::rpc {

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

}  // namespace plimsoll::rpc

#pragma once

#include <memory>

#include "daemon/grpc/callers.h"
#include "daemon/grpc/gate.h"

namespace grpc {
class Service;
}

namespace plimsoll::daemon {

class JobService;

// plimsoll.v1.Jobs as a service of one gRPC server, whose clients are all the same user.
class JobsRpcService {
 public:
  // `gate` must outlive this, `job service` need not: without it calls are refused. It is used on
  // the loop's thread only.
  JobsRpcService(Gate& gate, std::weak_ptr<JobService> service, Callers callers);
  JobsRpcService(const JobsRpcService&) = delete;
  JobsRpcService& operator=(const JobsRpcService&) = delete;
  ~JobsRpcService();

  [[nodiscard]] grpc::Service* service();
  // Calls that come, and streams that are broken off, are answered without the loop from now on.
  void close();

 private:
  class Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace plimsoll::daemon

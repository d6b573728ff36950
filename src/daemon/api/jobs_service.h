#pragma once

#include <memory>

#include "daemon/grpc/callers.h"
#include "daemon/grpc/gate.h"

namespace grpc {
class Service;
}

namespace plimsoll::daemon {

class JobDesk;

// plimsoll.v1.Jobs as a service of one gRPC server, whose clients are all the same user.
class JobsService {
 public:
  // `gate` must outlive this, `desk` need not: without it calls are refused. It is used on the
  // loop's thread only.
  JobsService(Gate& gate, std::weak_ptr<JobDesk> desk, Callers callers);
  JobsService(const JobsService&) = delete;
  JobsService& operator=(const JobsService&) = delete;
  ~JobsService();

  [[nodiscard]] grpc::Service* service();
  // Calls that come, and streams that are broken off, are answered without the loop from now on.
  void close();

 private:
  class Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace plimsoll::daemon

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace grpc {
class Service;
}

namespace plimsoll::daemon {

// Where a server listens: "unix:PATH", "HOST:PORT".
struct ServerConfig {
  std::vector<std::string> addresses;
  // Of one message from a client; what is larger is refused by gRPC (RESOURCE_EXHAUSTED).
  std::size_t message_bytes_max = std::size_t{16} << 20;
};

// A gRPC server without encryption, with threads of gRPC's own. `health` and the like: none.
class Server {
 public:
  // `services` must outlive this. Starts threads: after the guardian has split off.
  static Result<std::unique_ptr<Server>> start(const ServerConfig& config,
                                               const std::vector<grpc::Service*>& services);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  // Breaks off calls that have not ended, and waits until their owners have answered all the same:
  // nobody may wait for this thread by then.
  ~Server();

  // The port that was taken for each address with a port, in order; 0 for sockets.
  [[nodiscard]] const std::vector<int>& ports() const { return ports_; }

 private:
  struct Inside;
  Server();
  std::unique_ptr<Inside> inside_;
  std::vector<int> ports_;
};

}  // namespace plimsoll::daemon

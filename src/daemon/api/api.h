#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/loop/loop.h"
#include "base/result.h"
#include "daemon/grpc/gate.h"
#include "daemon/jobs/reporter.h"
#include "supervisor/external/external_jobs.h"
#include "supervisor/external/peer_listener.h"

namespace plimsoll::daemon {

class JobService;

// Files of PEM; read once, at the start.
struct TlsConfig {
  std::string host;
  std::uint16_t port = 0;
  std::string certificate, key, client_ca;
};

struct ApiConfig {
  supervisor::PeerListenerConfig socket;
  std::optional<TlsConfig> tls{};
};

// All of plimsoll.v1, as it is served: sockets, a server for each user, streams. Of the loop's
// thread; gRPC's own threads end with it.
class Api {
 public:
  // All must outlive this. Starts threads: after the guardian has split off.
  // `jobs` are those of plimsoll.v1.Jobs, which is not served without.
  static Result<std::unique_ptr<Api>> start(loop::Loop& loop, Gate& gate,
                                            supervisor::ExternalJobs& external_jobs,
                                            std::shared_ptr<JobService> jobs,
                                            const ApiConfig& config, Reporter& reporter);
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;
  // Ends all streams, and with them their clients' jobs. The gate is closed and has let everything
  // through by then: nobody may wait for the loop, which is here.
  ~Api();

  // The health service tells from now on that nothing more is taken.
  void drain();
  // Streams that are open.
  [[nodiscard]] std::size_t streams() const;
  // Where TLS is served; absent: nowhere.
  [[nodiscard]] std::optional<int> tls_port() const;

 private:
  class Inside;
  Api() = default;
  std::unique_ptr<Inside> inside_;
};

}  // namespace plimsoll::daemon

#include "daemon/grpc/server.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <chrono>
#include <deque>

#include "base/may_wait.h"
#include "daemon/grpc/awake.h"
#include "supervisor/wall_clock.h"

namespace plimsoll::daemon {
namespace {

// So long calls may still end by themselves before they are broken off.
constexpr auto kShutdownPatience = std::chrono::milliseconds(500);

// Go, whose configuration this is, takes a missing host as every interface; gRPC refuses it.
std::string with_host(const std::string& address) {
  return address.starts_with(':') ? "[::]" + address : address;
}

}  // namespace

struct Server::Inside {
  Awake awake;  // outlives the server
  std::unique_ptr<grpc::Server> server;
};

Server::Server() : inside_(std::make_unique<Inside>()) {}

Server::~Server() {
  if (!inside_->server) return;
  may_wait("Server::~Server");
  inside_->server->Shutdown(supervisor::wall_now() + kShutdownPatience);
}

Result<std::unique_ptr<Server>> Server::start(const ServerConfig& config,
                                              const std::vector<grpc::Service*>& services) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(static_cast<int>(config.message_bytes_max));
  // Two servers on one address would share its calls by chance.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  std::deque<int> ports(config.addresses.size(), 0);
  for (std::size_t i = 0; i < config.addresses.size(); ++i) {
    builder.AddListeningPort(with_host(config.addresses[i]), grpc::InsecureServerCredentials(),
                             &ports[i]);
  }
  for (grpc::Service* service : services) builder.RegisterService(service);
  std::unique_ptr<Server> made(new Server());
  made->inside_->server = builder.BuildAndStart();
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (made->inside_->server != nullptr && ports[i] != 0) continue;
    return fail("listen on " + config.addresses[i] +
                ": failed; another program may already listen there");
  }
  made->ports_.assign(ports.begin(), ports.end());
  if (made->inside_->server == nullptr) return fail("start a gRPC server");
  return made;
}

}  // namespace plimsoll::daemon

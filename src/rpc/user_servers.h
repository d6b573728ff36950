#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "engine/guest.h"

namespace grpc {
class Service;
}

namespace plimsoll::rpc {

class Awake;

// What one user's calls are answered by, kept alive beside its server.
struct UserServices {
  std::vector<grpc::Service*> services;
  std::vector<std::string> names;  // of these, for the health service
  std::shared_ptr<void> owner;
};

// Certificates for TCP, as texts of PEM.
struct TlsTexts {
  std::string certificate, key, client_ca;
};

// gRPC servers, one for each user that connects through a socket of ours: gRPC does not tell a call
// whose connection it came by, so whoever is the same user to the kernel has a server of its own,
// made at the first connection; when there are too many, the one goes that was connected to longest
// ago of those without a call. TCP has one more, with mutual TLS.
//
// Of the loop's thread.
class UserServers {
 public:
  // `make` is asked once for each user.
  explicit UserServers(std::function<UserServices(const engine::Peer&)> make);
  UserServers(const UserServers&) = delete;
  UserServers& operator=(const UserServers&) = delete;
  // Breaks off the calls that are left.
  ~UserServers();

  // Different users (uid, gid and groups) at once; while all of them have calls, who comes after
  // them is turned away.
  static constexpr std::size_t kUsersMax = 64;
  // Of one message from a client.
  static constexpr int kMessageBytesMax = 4 << 20;

  // Takes a connection over. An error says why not; it is closed then.
  Result<void> accept(UniqueFd connection, const engine::Peer& peer);
  // Listens at HOST:PORT. Its clients are nobody on this machine: they can't name places or run
  // jobs. Returns the port.
  Result<int> listen_with_tls(const std::string& address, const TlsTexts& tls);
  // The health service tells from now on that nothing more is taken.
  void drain();

 private:
  struct Server;
  Result<Server*> server_for(const engine::Peer& peer);
  // False: every one of them has a call.
  bool retire_one();

  std::unique_ptr<Awake> awake_;  // outlives the servers
  std::function<UserServices(const engine::Peer&)> make_;
  std::map<std::vector<std::uint32_t>, std::unique_ptr<Server>> servers_;
  std::uint64_t connections_ = 0;  // ever
  std::unique_ptr<Server> tls_;
  bool is_draining_ = false;
};

}  // namespace plimsoll::rpc

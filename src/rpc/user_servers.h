#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "engine/guest.h"
#include "loop/worker.h"

namespace grpc {
class Service;
}

namespace plimsoll::rpc {

class Awake;
class TlsConnections;

// What one user's calls are answered by, kept alive beside its server.
struct UserServices {
  std::vector<grpc::Service*> services;
  std::vector<std::string> names;  // of these, for the health service
  std::shared_ptr<void> owner;
  // From now on its calls are answered without the loop, which may be waiting for them. Its last
  // calls end on another thread, and `owner` with them.
  std::function<void()> close{};
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
  // `make` is asked once for each user. `loop` must outlive this.
  UserServers(const loop::Loop& loop, std::function<UserServices(const engine::Peer&)> make);
  UserServers(const UserServers&) = delete;
  UserServers& operator=(const UserServers&) = delete;
  // Breaks off the calls that are left.
  ~UserServers();

  // Different users (uid, gid and groups) at once; while all of them have calls, who comes after
  // them is turned away, unless he is the host. And the same of one uid.
  static constexpr std::size_t kUsersMax = 64;
  static constexpr std::size_t kOfUidMax = 8;
  // Connections of one user and of all but the host: each is a descriptor.
  static constexpr std::size_t kConnectionsOfUserMax = 256;
  static constexpr std::size_t kConnectionsMax = 1024;
  // Servers that have gone and whose last calls have not ended: each takes threads and descriptors.
  static constexpr std::size_t kRetiringMax = 16;
  // Of one message from a client.
  static constexpr int kMessageBytesMax = 4 << 20;

  // Takes a connection over. An error says why not; it is closed then.
  Result<void> accept(UniqueFd connection, const engine::Peer& peer);
  // Makes the server for whoever comes from another machine and has a certificate: nobody here, who
  // can't name places or run jobs. Tells `connections` of each call. Once.
  Result<void> serve_tls(const TlsTexts& tls, std::shared_ptr<TlsConnections> connections);
  // Takes a connection over TCP over. After serve_tls(); from any thread.
  void accept_tls(UniqueFd connection);
  // The health service tells from now on that nothing more is taken.
  void drain();

 private:
  struct Server;
  Result<Server*> server_for(const engine::Peer& peer);
  // One of this uid, or of any. False: every one of them has a call, or too many have not ended
  // yet. Waits for no call.
  bool retire_one(std::optional<std::uint32_t> uid = {});
  Result<void> make_room(const engine::Peer& peer);
  Result<void> count_connection(int socket, policy::Tenant user);

  // A connection that was handed to gRPC, which tells of no end: its descriptor's number is another
  // socket's by then, or nobody's.
  struct Connection {
    int number = -1;
    ino_t socket = 0;
    policy::Tenant user = policy::kHost;
    [[nodiscard]] bool is_open() const;
  };

  std::unique_ptr<Awake> awake_;  // outlives the servers
  std::function<UserServices(const engine::Peer&)> make_;
  std::map<std::vector<std::uint32_t>, std::unique_ptr<Server>> servers_;
  std::uint64_t connections_ = 0;  // ever
  std::vector<Connection> open_;   // and some that are not open any more
  std::unique_ptr<Server> tls_;
  bool is_draining_ = false;
  // Of the loop's thread alone; shared with what is on its way there.
  std::shared_ptr<std::size_t> retiring_ = std::make_shared<std::size_t>(0);
  loop::Worker retirer_;  // gRPC waits for calls that the loop answers: not on the loop's thread
};

}  // namespace plimsoll::rpc

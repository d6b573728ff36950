#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/loop/worker.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "supervisor/external/external_job.h"

namespace grpc {
class ResourceQuota;
class Service;
}  // namespace grpc

namespace plimsoll::daemon {

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
// whose connection it came by, so whoever is the same user to the kernel (uid, gid and groups) has
// a server of its own, made at the first connection; when there are too many, those go that were
// connected to longest ago of those without a call. TCP has one more, with mutual TLS.
//
// Of the loop's thread.
class UserServers {
 public:
  // `make` is asked once for each user. `loop` must outlive this.
  UserServers(const loop::Loop& loop, std::function<UserServices(const supervisor::Peer&)> make);
  UserServers(const UserServers&) = delete;
  UserServers& operator=(const UserServers&) = delete;
  // Breaks off the calls that are left.
  ~UserServers();

  // Different uids at once; while all of them have calls, who comes after them is turned away,
  // unless he is the host. Servers of one uid, and of all uids beside the first of each: who
  // changes his groups takes no other user's place.
  static constexpr std::size_t kUsersMax = 64;
  static constexpr std::size_t kOfUidMax = 8;
  static constexpr std::size_t kFurtherMax = 64;
  // Connections of one user and of all but the host: each is a descriptor.
  static constexpr std::size_t kConnectionsOfUserMax = 256;
  static constexpr std::size_t kConnectionsMax = 1024;
  // Servers that have gone and whose last calls have not ended: each takes threads and descriptors.
  static constexpr std::size_t kRetiringMax = 16;
  // Of one message from a client.
  static constexpr int kMessageBytesMax = 4 << 20;
  // What gRPC may hold for one uid: calls, and messages that have not arrived whole. Beyond, it
  // breaks calls of this user off. A guess: some thousand calls, or a dozen of the longest
  // messages.
  static constexpr std::size_t kMemoryOfUserMax = 64 << 20;

  // Takes a connection over. An error says why not; it is closed then.
  Result<void> accept(UniqueFd connection, const supervisor::Peer& peer);
  // Makes the server for whoever comes from another machine and has a certificate: nobody here, who
  // can't name places or run jobs. Tells `connections` of each call. Once.
  Result<void> serve_tls(const TlsTexts& tls, std::shared_ptr<TlsConnections> connections);
  // Takes a connection over TCP over. After serve_tls(); from any thread.
  void accept_tls(UniqueFd connection);
  // The health service tells from now on that nothing more is taken.
  void drain();

 private:
  struct Server;
  Result<Server*> server_for(const supervisor::Peer& peer);
  using Servers = std::map<std::vector<std::uint32_t>, std::unique_ptr<Server>>;
  struct OfUid {
    std::size_t servers = 0;
    std::size_t calls = 0;
    std::uint64_t connected = 0;  // the number of the last connection
  };
  [[nodiscard]] std::map<std::uint32_t, OfUid> by_uid() const;
  // One server of such a uid, or all of one uid. False: every one of them has a call, or too many
  // have not ended yet. Waits for no call.
  bool retire_one(const std::function<bool(std::uint32_t uid)>& may_go);
  bool retire_user();
  void retire(Servers::iterator gone);
  Result<void> make_room(const supervisor::Peer& peer);
  [[nodiscard]] std::shared_ptr<grpc::ResourceQuota> memory_of(std::uint32_t uid) const;
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
  std::function<UserServices(const supervisor::Peer&)> make_;
  Servers servers_;
  std::uint64_t connections_ = 0;  // ever
  std::vector<Connection> open_;   // and some that are not open any more
  std::unique_ptr<Server> tls_;
  bool is_draining_ = false;
  // Of the loop's thread alone; shared with what is on its way there.
  std::shared_ptr<std::size_t> retiring_ = std::make_shared<std::size_t>(0);
  loop::Worker retirer_;  // gRPC waits for calls that the loop answers: not on the loop's thread
};

}  // namespace plimsoll::daemon

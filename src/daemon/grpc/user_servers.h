#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/loop/loop.h"
#include "base/loop/worker.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "daemon/grpc/user_server.h"
#include "supervisor/external/closer.h"
#include "supervisor/external/external_job.h"

namespace plimsoll::daemon {

class Awake;
class TlsConnections;

// Who has the services of users' servers.
class UserServicesMaker {
 public:
  virtual ~UserServicesMaker() = default;
  // Of one user. On a thread of the servers' own, so that nothing of the loop's is to be touched.
  virtual UserServices make(const supervisor::Peer& peer) = 0;
  // Whoever waited for a server is turned away. On the loop's thread.
  virtual void turned_away(const Error& why) = 0;
};

// gRPC servers, one for each user that connects through a socket of ours: gRPC does not tell a call
// whose connection it came by, so whoever is the same user to the kernel (uid, gid and groups) has
// a server of its own, made at the first connection; when there are too many, those go that were
// connected to longest ago of those without a call. TCP has one more, with mutual TLS.
//
// Of the loop's thread. A server takes some milliseconds to make and waits for its calls at its
// end: both are done on threads of this object's own, and whoever connects meanwhile waits for the
// one that is being made.
class UserServers {
 public:
  // Both must outlive this.
  UserServers(const loop::Loop& loop, UserServicesMaker& maker);
  UserServers(const UserServers&) = delete;
  UserServers& operator=(const UserServers&) = delete;
  // Breaks off the calls that are left. Waits for the server that is being made.
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
  // What gRPC may hold for one uid: calls, and messages that have not arrived whole. Beyond, it
  // breaks calls of this user off. A guess: some thousand calls, or a dozen of the longest
  // messages.
  static constexpr std::size_t kMemoryOfUserMax = 64 << 20;
  // Open calls of one uid, but for the host: those of all its jobs, as many that wait at the gate,
  // and some.
  static constexpr std::size_t kCallsOfUserMax = 4096;

  // Takes a connection over. An error says why not; it is closed then, not on this thread, as what
  // waits in it may make that take long. One whose server can't be made is closed later, and the
  // maker told.
  Result<void> accept(UniqueFd connection, const supervisor::Peer& peer);
  // Makes the server for whoever comes from another machine and has a certificate: nobody here, who
  // can't name places or run jobs. Tells `connections` of each call. Once.
  Result<void> serve_tls(const TlsTexts& tls, std::shared_ptr<TlsConnections> connections);
  // Takes a connection over TCP over. After serve_tls(); from any thread.
  void accept_tls(UniqueFd connection);
  // The health service tells from now on that nothing more is taken.
  void drain();
  // Connections that wait for their servers.
  [[nodiscard]] std::size_t waiting() const;

 private:
  struct Place;
  using Key = std::vector<std::uint32_t>;
  using Places = std::map<Key, std::unique_ptr<Place>>;
  struct OfUid {
    std::size_t servers = 0;
    std::size_t busy = 0;         // of these: they have calls, or somebody waits for them
    std::uint64_t connected = 0;  // the number of the last connection
  };
  [[nodiscard]] UserServer::Health health() const;
  Result<Place*> place_for_one_more(int socket, const supervisor::Peer& peer);
  Result<Place*> place_for(const supervisor::Peer& peer);
  void made(const Key& key, policy::Tenant user, const Result<void>& built);
  void hand_over(const Key& key);
  [[nodiscard]] std::map<std::uint32_t, OfUid> by_uid() const;
  // One server of one of these uids, or all of one uid. False: every one of them is busy, or too
  // many have not ended yet. Waits for no call.
  bool retire_one(const std::set<std::uint32_t>& uids);
  bool retire_user();
  void retire(Places::iterator gone);
  Result<void> make_room(const supervisor::Peer& peer);
  [[nodiscard]] std::shared_ptr<UserShare> share_of(const supervisor::Peer& peer) const;
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
  const loop::Loop& loop_;
  UserServicesMaker& maker_;
  Places places_;
  std::uint64_t connections_ = 0;  // ever
  std::vector<Connection> open_;   // and some that are not open any more
  std::unique_ptr<UserServer> tls_;
  supervisor::Closer closer_;  // of connections that are refused
  bool is_draining_ = false;
  // Of the loop's thread alone; shared with what is on its way there.
  std::shared_ptr<std::size_t> retiring_ = std::make_shared<std::size_t>(0);
  // What is posted finds nobody when this is gone.
  std::shared_ptr<UserServers*> self_ = std::make_shared<UserServers*>(this);
  loop::Worker retirer_;  // gRPC waits for calls that the loop answers: not on the loop's thread
  // One server at a time: a user has kOfUidMax there at most before another's is made.
  loop::Worker builder_;
};

}  // namespace plimsoll::daemon

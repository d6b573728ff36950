#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace grpc {
class ResourceQuota;
class Service;
}  // namespace grpc

namespace plimsoll::daemon {

class TlsConnections;

// What one user's calls are answered by, kept alive beside its server.
struct UserServices {
  class Owner {
   public:
    virtual ~Owner() = default;
    // From now on its calls are answered without the loop, which may be waiting for them. Its last
    // calls end on another thread, and the owner with them.
    virtual void close() = 0;
  };

  std::vector<grpc::Service*> services;
  std::vector<std::string> names;  // of these, for the health service
  std::shared_ptr<Owner> owner;    // may be nobody
};

// Certificates for TCP, as texts of PEM.
struct TlsTexts {
  std::string certificate, key, client_ca;
};

// What all servers of one uid may have together.
struct UserShare {
  // What gRPC holds for them.
  std::shared_ptr<grpc::ResourceQuota> memory;
  // More open calls than that are cancelled as they come: each takes some 20 KiB, most of which is
  // not counted above.
  std::size_t calls_max = 0;
  std::atomic<std::size_t> calls = 0;
};

// One gRPC server, which listens nowhere and is handed its connections.
//
// Of one thread at a time until it is built; then as its functions say.
class UserServer {
 public:
  explicit UserServer(std::shared_ptr<UserShare> share);
  UserServer(const UserServer&) = delete;
  UserServer& operator=(const UserServer&) = delete;
  // Breaks off the calls that are left and waits for them.
  ~UserServer();

  // Of one message from a client.
  static constexpr int kMessageBytesMax = 4 << 20;

  // For those who connect through a socket of ours, or with a certificate, each call of whom
  // `connections` is told. Blocks for some milliseconds. Once.
  Result<void> build(UserServices services);
  Result<void> build_tls(UserServices services, const TlsTexts& tls,
                         std::shared_ptr<TlsConnections> connections);

  // Of a server that is built.
  // Takes a connection over. From any thread.
  void take(UniqueFd connection) const;
  // As UserServices::Owner::close().
  void close() const;
  // Calls of its own that are open; not counted of TLS.
  [[nodiscard]] std::size_t calls() const;
  // What the health service tells of it.
  enum class Health : std::uint8_t { serving, not_serving };
  void tell_health(Health health) const;

  [[nodiscard]] const std::shared_ptr<UserShare>& share() const { return share_; }

 private:
  struct Inside;
  std::shared_ptr<UserShare> share_;
  std::unique_ptr<Inside> inside_;
};

}  // namespace plimsoll::daemon

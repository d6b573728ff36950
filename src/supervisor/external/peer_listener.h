#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/loop/loop.h"
#include "base/loop/unix_socket.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "supervisor/external/closer.h"
#include "supervisor/external/connection_pace.h"
#include "supervisor/external/peer.h"

namespace plimsoll::supervisor {

struct PeerListenerConfig {
  std::string path;                    // absolute
  std::optional<std::string> group{};  // whose members may connect besides
  loop::SocketKind kind = loop::SocketKind::stream;
};

// Who connects through this descriptor, as the kernel noted at the connection: SO_PEERCRED and
// SO_PEERGROUPS. Messages have no say in it.
Result<Peer> peer_of(int socket);

// Who takes the connections of a listener over, from the loop.
class ConnectionTaker {
 public:
  virtual ~ConnectionTaker() = default;
  // `connection` does not block.
  virtual void take(UniqueFd connection, const Peer& peer) = 0;
  // It is closed after this: too many of its user's have come (ConnectionPace).
  virtual void turn_away(int /*connection*/) {}
};

// A Unix socket that only its owner, root and perhaps a group may connect to. We accept, ask
// the kernel who it is, and hand the connection on.
class PeerListener {
 public:
  // Takes away a socket that nobody listens at any more; one that somebody does is an error. Mode
  // 0600, or 0660 with the group. `loop` and `taker` must outlive this.
  static Result<std::unique_ptr<PeerListener>> start(loop::Loop& loop,
                                                     const PeerListenerConfig& config,
                                                     ConnectionTaker& taker);
  PeerListener(const PeerListener&) = delete;
  PeerListener& operator=(const PeerListener&) = delete;
  // Removes the socket.
  ~PeerListener();

  // Connections that were turned away, because of who came or how many of his had.
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

 private:
  explicit PeerListener(ConnectionTaker& taker) : taker_(taker) {}
  Result<void> listen(const PeerListenerConfig& config);
  void accept();
  [[nodiscard]] bool may_come(const Peer& peer) const;

  ConnectionTaker& taker_;
  std::string path_;
  std::optional<std::uint32_t> group_;
  ConnectionPace pace_;
  Closer closer_;
  UniqueFd socket_;
  loop::Watch watch_;
  loop::Timer pause_;  // while no descriptor is to be had
  std::uint64_t refused_ = 0;
};

}  // namespace plimsoll::supervisor

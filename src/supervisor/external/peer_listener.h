#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/loop/loop.h"
#include "base/loop/unix_socket.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "supervisor/external/closer.h"
#include "supervisor/external/peer.h"

namespace plimsoll::supervisor {

// How many connections of one user are taken over: each costs the loop far more than the client
// that makes it and lets it go again. Root's are not counted.
//
// Pure: values and `now` in. Of the loop's thread.
class ConnectionPace {
 public:
  static constexpr double kPerSecond = 200;  // some hundredths of a core
  static constexpr double kAtOnce = 500;     // who has not come for a while

  // One has come; false: it is to be turned away.
  [[nodiscard]] bool may_come(std::uint32_t uid, Instant now) {
    if (uid == 0) return true;
    const auto [place, is_new] = users_.try_emplace(uid, User{.left = kAtOnce, .at = now});
    if (is_new) forget(now);
    User& user = users_.at(uid);
    user = {.left = left(user, now), .at = now};
    if (user.left < 1) return false;
    user.left -= 1;
    return true;
  }

  [[nodiscard]] std::size_t known() const { return users_.size(); }

 private:
  struct User {
    double left = 0;  // as of `at`
    Instant at{};
  };

  static double left(const User& user, Instant now) {
    return std::min(kAtOnce, user.left + to_seconds(now - user.at) * kPerSecond);
  }
  // Who is as one who has never come.
  void forget(Instant now) {
    std::erase_if(users_, [now](const auto& known) {
      return known.second.at < now && left(known.second, now) >= kAtOnce;
    });
  }

  std::map<std::uint32_t, User> users_;
};

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

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/loop/loop.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "supervisor/external/external_job.h"

namespace plimsoll::daemon {

struct PeerListenerConfig {
  std::string path;                    // absolute
  std::optional<std::string> group{};  // whose members may connect besides
};

// Who connects through this descriptor, as the kernel noted at the connection: SO_PEERCRED and
// SO_PEERGROUPS. Messages have no say in it.
Result<supervisor::Peer> peer_of(int socket);

// A Unix stream socket that only its owner, root and perhaps a group may connect to. We accept, ask
// the kernel who it is, and hand the connection on.
class PeerListener {
 public:
  // Takes away a socket that nobody listens at any more; one that somebody does is an error. Mode
  // 0600, or 0660 with the group. `accepted` is called from the loop with a descriptor that does
  // not block. `loop` must outlive this.
  static Result<std::unique_ptr<PeerListener>> start(
      loop::Loop& loop, const PeerListenerConfig& config,
      std::function<void(UniqueFd, const supervisor::Peer&)> accepted);
  PeerListener(const PeerListener&) = delete;
  PeerListener& operator=(const PeerListener&) = delete;
  // Removes the socket.
  ~PeerListener();

  // Connections that were turned away, because of who came.
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

 private:
  PeerListener() = default;
  Result<void> listen(const PeerListenerConfig& config);
  void accept();
  [[nodiscard]] bool may_come(const supervisor::Peer& peer) const;

  std::string path_;
  std::optional<std::uint32_t> group_;
  UniqueFd socket_;
  std::function<void(UniqueFd, const supervisor::Peer&)> accepted_;
  loop::Watch watch_;
  loop::Timer pause_;  // while no descriptor is to be had
  std::uint64_t refused_ = 0;
};

}  // namespace plimsoll::daemon

#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "daemon/grpc/tls_connections.h"
#include "supervisor/external/peer.h"

namespace plimsoll::daemon {

// Who calls a server: one user of this machine, or whoever has come over TCP.
class Callers {
 public:
  Callers() = default;  // root
  Callers(supervisor::Peer peer, std::shared_ptr<const TlsConnections> afar)
      : peer_(std::move(peer)), afar_(std::move(afar)) {}

  // Of a call with this grpc::ServerContextBase.
  template <class Context>
  [[nodiscard]] supervisor::Peer of(const Context& call) const {
    supervisor::Peer peer = peer_;
    if (peer.where == supervisor::PeerPlace::remote) {
      peer.certificate = afar_->certificate_of(call.peer());
    }
    return peer;
  }

 private:
  supervisor::Peer peer_;
  std::shared_ptr<const TlsConnections> afar_;
};

}  // namespace plimsoll::daemon

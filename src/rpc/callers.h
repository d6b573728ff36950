#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "engine/peer.h"
#include "rpc/tls_connections.h"

namespace plimsoll::rpc {

// Who calls a server: one user of this machine, or whoever has come over TCP.
class Callers {
 public:
  Callers() = default;  // root
  Callers(engine::Peer peer, std::shared_ptr<const TlsConnections> afar)
      : peer_(std::move(peer)), afar_(std::move(afar)) {}

  // Of a call with this grpc::ServerContextBase.
  template <class Context>
  [[nodiscard]] engine::Peer of(const Context& call) const {
    engine::Peer peer = peer_;
    if (peer.where == engine::PeerPlace::remote) {
      peer.certificate = afar_->certificate_of(call.peer());
    }
    return peer;
  }

 private:
  engine::Peer peer_;
  std::shared_ptr<const TlsConnections> afar_;
};

}  // namespace plimsoll::rpc

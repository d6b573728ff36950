#include "engine/peer.h"

#include <unistd.h>

#include <limits>

namespace plimsoll::engine {

policy::Tenant tenant_of(const Peer& peer) {
  // No user has the number -1: setuid(2) takes it for "no change".
  constexpr std::uint32_t kRemote = std::numeric_limits<std::uint32_t>::max();
  if (peer.where == PeerPlace::remote) return policy::Tenant{kRemote};
  if (peer.uid == 0 || peer.uid == ::geteuid()) return policy::kHost;
  return policy::Tenant{peer.uid};
}

}  // namespace plimsoll::engine

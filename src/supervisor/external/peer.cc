#include "supervisor/external/peer.h"

#include <unistd.h>

#include <cstdint>

namespace plimsoll::supervisor {

policy::Tenant tenant_of(const Peer& peer) {
  // Users of this machine have 32 bits.
  constexpr std::uint64_t kRemote = std::uint64_t{1} << 32;
  if (peer.where == PeerPlace::remote) return policy::Tenant{kRemote + peer.certificate};
  if (peer.uid == 0 || peer.uid == ::geteuid()) return policy::kHost;
  return policy::Tenant{peer.uid};
}

}  // namespace plimsoll::supervisor

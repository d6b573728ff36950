#include "supervisor/external/peer.h"

#include <unistd.h>

#include <cstdint>

namespace plimsoll::supervisor {

namespace {

// Users of this machine have 32 bits.
constexpr std::uint64_t kRemote = std::uint64_t{1} << 32;

}  // namespace

policy::Tenant tenant_of(const Peer& peer) {
  if (peer.where == PeerPlace::remote) return policy::Tenant{kRemote + peer.certificate};
  if (peer.uid == 0 || peer.uid == ::geteuid()) return policy::kHost;
  return policy::Tenant{peer.uid};
}

std::string user_text(policy::Tenant tenant) {
  if (tenant == policy::kHost) {
    const uid_t own = ::geteuid();
    return own == 0 ? "root" : "root or uid " + std::to_string(own);
  }
  const auto number = static_cast<std::uint64_t>(tenant);
  return number >= kRemote ? "a client on another machine" : "uid " + std::to_string(number);
}

}  // namespace plimsoll::supervisor

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/job/tenant.h"

namespace plimsoll::supervisor {

// A peer on another machine is nobody here: it has no uid, and its places are not ours.
enum class PeerPlace : std::uint8_t { local, remote };

// Who is at the other end of a socket, as the kernel tells.
struct Peer {
  PeerPlace where = PeerPlace::local;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  int pid = 0;
  std::vector<std::uint32_t> groups{};  // supplementary
  // Of a peer on another machine: whose certificate it has shown, by a number; 0: not known.
  std::uint32_t certificate = 0;
};

// Whose past tells what jobs of this peer need: his alone, and not that of the daemon's own user,
// which is absent here. All peers on other machines are one.
[[nodiscard]] inline std::optional<std::uint32_t> owner_of(const Peer& peer, std::uint32_t daemon) {
  constexpr std::uint32_t kElsewhere = UINT32_MAX;  // no user has it
  if (peer.where == PeerPlace::remote) return kElsewhere;
  return peer.uid == daemon ? std::nullopt : std::optional(peer.uid);
}

// Whose turn and share of the machine it takes: root and this process's own user are the host; on
// other machines each certificate is a user.
[[nodiscard]] policy::Tenant tenant_of(const Peer& peer);
// Who that is, for people: "uid 1000".
[[nodiscard]] std::string user_text(policy::Tenant tenant);

}  // namespace plimsoll::supervisor

#include "supervisor/external/peer_rights.h"

#include <unistd.h>

namespace plimsoll::supervisor {

bool PeerRights::is_trusted() const { return peer_.uid == 0 || peer_.uid == ::geteuid(); }

Result<BorrowedRights> PeerRights::borrow() const {
  guardian::Identity identity{.uid = peer_.uid, .gid = peer_.gid, .groups = {}};
  identity.groups.assign(peer_.groups.begin(), peer_.groups.end());
  return BorrowedRights::of(identity);
}

}  // namespace plimsoll::supervisor

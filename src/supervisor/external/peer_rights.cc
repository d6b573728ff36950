#include "supervisor/external/peer_rights.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "base/file.h"
#include "kernel/procfs/parse.h"

namespace plimsoll::supervisor {

bool PeerRights::is_trusted() const { return peer_.uid == 0 || peer_.uid == ::geteuid(); }

Result<BorrowedRights> PeerRights::borrow() const {
  guardian::Identity identity{.uid = peer_.uid, .gid = peer_.gid, .groups = {}};
  identity.groups.assign(peer_.groups.begin(), peer_.groups.end());
  return BorrowedRights::of(identity);
}

bool PeerRights::may_signal(int pid) const {
  if (peer_.uid == 0) return true;
  const auto status = read_text_at(AT_FDCWD, "/proc/" + std::to_string(pid) + "/status");
  const auto uids = status ? procfs::parse_uids(*status) : std::nullopt;
  return uids && procfs::may_signal(peer_.uid, *uids);
}

}  // namespace plimsoll::supervisor

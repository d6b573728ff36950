#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

// Where the ledger of this machine lies. Runs that have none in common meet at the machine's
// MemAvailable alone.
namespace plimsoll::supervisor {

// Of one user, or of root: `ledger` in the runtime directory, closed to others. Made if need be.
Result<UniqueFd> open_own_ledger();

// What a daemon opens to the members of a group: beside its socket, SOCKET.ledger. Everybody there
// writes his own entry alone (mode 3770). Made if need be; it stays when the daemon ends, as what
// the runs have leased does.
Result<UniqueFd> make_shared_ledger(const std::string& socket, gid_t group);

// The one to join: the daemon's, of $PLIMSOLL_SOCKET or of root's own socket, where there is one
// that this user may write to and only root or this user can have made; else the own one.
Result<UniqueFd> open_ledger();

}  // namespace plimsoll::supervisor

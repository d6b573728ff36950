#pragma once

#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "guardian/spawn_request.h"

namespace plimsoll::supervisor {

// Keeps the caller's terminal from a command that runs as another user, who could type into it
// (TIOCSTI of ioctl_tty(2)) and read what is typed. The command gets a session of its own, which
// has no terminal; as standard input /dev/null in place of one; where it prints to one, a
// descriptor that can only be written; and no other descriptors of the caller's.
class TerminalGuard {
 public:
  // Changes the request, which borrows descriptors of the guard's. For a command that shares the
  // caller's session it does nothing.
  static Result<TerminalGuard> over(guardian::SpawnRequest& request, guardian::Session session);

 private:
  std::vector<UniqueFd> opened_;
};

}  // namespace plimsoll::supervisor

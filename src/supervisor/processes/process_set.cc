#include "supervisor/processes/process_set.h"

#include <sys/wait.h>

#include "kernel/procfs/table.h"

namespace plimsoll::supervisor {

std::optional<guardian::WaitStatus> end_of_process(int pidfd) {
  const auto status = procfs::end_status(pidfd);
  if (!status) return std::nullopt;
  using Kind = guardian::WaitStatus::Kind;
  const bool exited = WIFEXITED(*status);
  return guardian::WaitStatus{.kind = exited ? Kind::exited : Kind::signalled,
                              .value = exited ? WEXITSTATUS(*status) : WTERMSIG(*status)};
}

}  // namespace plimsoll::supervisor

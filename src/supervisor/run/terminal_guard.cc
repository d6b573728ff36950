#include "supervisor/run/terminal_guard.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "base/file.h"

namespace plimsoll::supervisor {

Result<TerminalGuard> TerminalGuard::over(guardian::SpawnRequest& request,
                                          guardian::Session session) {
  TerminalGuard guard;
  if (session == guardian::Session::shared) return guard;
  request.session = session;
  request.descriptors = guardian::Descriptors::close;
  for (std::size_t target = 0; target < request.stdio.size(); ++target) {
    const int source = request.stdio[target].value_or(static_cast<int>(target));
    if (::isatty(source) == 0) continue;
    const std::string same = "/proc/self/fd/" + std::to_string(source);
    auto opened = target == STDIN_FILENO ? open_at(AT_FDCWD, "/dev/null", O_RDONLY)
                                         : open_at(AT_FDCWD, same, O_WRONLY | O_NOCTTY);
    if (!opened) return pass(std::move(opened), "protect the terminal from the job's user");
    request.stdio[target] = opened->get();
    guard.opened_.push_back(std::move(*opened));
  }
  return guard;
}

}  // namespace plimsoll::supervisor

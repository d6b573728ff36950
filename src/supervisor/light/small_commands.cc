#include "supervisor/light/small_commands.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

namespace plimsoll::supervisor {

SmallCommands::SmallCommands(loop::Loop& loop, const policy::Scheduler& scheduler)
    : scheduler_(scheduler), running_(loop, *this) {}

bool SmallCommands::passes(const policy::JobSpec& command, int pid) {
  const auto peak = scheduler_.known_small(command);
  if (!peak || !running_.has_room(*peak, scheduler_.line()) || running_.is_checked()) return false;
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
  if (!pidfd) return false;
  running_.add({.id = command.id,
                .pid = pid,
                .pidfd = std::move(pidfd),
                .peak = *peak,
                .since = loop::now()});
  return true;
}

}  // namespace plimsoll::supervisor

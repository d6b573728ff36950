#include "supervisor/run/guardian_watch.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "kernel/procfs/table.h"

namespace plimsoll::supervisor {
namespace {

// Not by a debugger, which is 't'.
bool is_stopped(pid_t pid) {
  const auto stat = procfs::stat_of(pid);
  return stat && stat->state == 'T';
}

}  // namespace

GuardianWatch::GuardianWatch(loop::Loop& loop, std::function<void(const std::string&)> tell)
    : guardian_(::getppid()),
      pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, guardian_, 0U))),
      tell_(std::move(tell)),
      timer_(loop.timer([this] { look(); })) {
  resume();
}

void GuardianWatch::pause() { timer_.off(); }

void GuardianWatch::resume() {
  stood_ = false;
  timer_.set(loop::now() + kSampleInterval);
}

// At two looks: the first may be of a stop that is just being undone.
void GuardianWatch::look() {
  const bool stands = is_stopped(guardian_);
  if (std::exchange(stood_, stands) && stands) {
    tell_("process " + std::to_string(guardian_) +
          ", which starts the jobs, was stopped by a signal from another process; Plimsoll "
          "continues it");
    ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGCONT, nullptr, 0U);
    stood_ = false;
  }
  timer_.set(loop::now() + kSampleInterval);
}

}  // namespace plimsoll::supervisor

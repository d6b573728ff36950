#include "supervisor/run/guardian_watch.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/text.h"
#include "kernel/procfs/table.h"

namespace plimsoll::supervisor {
namespace {

// One of its threads is, and not by a debugger, which is 't': another may be in a call that stops
// late.
bool is_stopped(pid_t pid) {
  std::error_code failed;
  const auto tasks =
      std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", failed);
  return std::any_of(begin(tasks), end(tasks), [](const auto& task) {
    const auto thread = to_i64(task.path().filename().string());
    const auto stat = thread ? procfs::stat_of(static_cast<pid_t>(*thread)) : std::nullopt;
    return stat && stat->state == 'T';
  });
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

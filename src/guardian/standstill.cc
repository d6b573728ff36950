#include "guardian/standstill.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>

namespace plimsoll::guardian {

void Standstill::look(Instant now) {
  for (;;) {
    siginfo_t info{};
    const auto id = static_cast<id_t>(child_);
    if (::waitid(P_PID, id, &info, WSTOPPED | WCONTINUED | WNOHANG) != 0) return;
    if (info.si_pid == 0) break;
    if (info.si_code == CLD_CONTINUED) {
      since_.reset();
    } else if (info.si_status == SIGSTOP || info.si_status == SIGTSTP) {
      since_ = now;
      tell_("process " + std::to_string(child_) +
            ", which watches the jobs, was stopped by a signal from another process; Plimsoll "
            "continues it in 30 s (kill -CONT does so at once)");
    }
  }
  if (!since_ || now - *since_ < patience_) return;
  since_.reset();
  ::kill(child_, SIGCONT);  // its pid can't be another's: nobody else waits for it
}

std::optional<Duration> Standstill::next_look(Instant now) const {
  if (!since_) return std::nullopt;
  return std::max(Duration{}, *since_ + patience_ - now);
}

}  // namespace plimsoll::guardian

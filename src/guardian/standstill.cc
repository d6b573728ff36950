#include "guardian/standstill.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>

namespace plimsoll::guardian {

std::optional<std::string> Standstill::look(Instant now) {
  std::optional<std::string> told;
  for (;;) {
    siginfo_t info{};
    const auto id = static_cast<id_t>(child_);
    if (::waitid(P_PID, id, &info, WSTOPPED | WCONTINUED | WNOHANG) != 0) return told;
    if (info.si_pid == 0) break;
    if (info.si_code == CLD_CONTINUED) {
      since_.reset();
    } else if (info.si_status == SIGSTOP || info.si_status == SIGTSTP) {
      since_ = now;
      told = "process " + std::to_string(child_) +
             ", which watches the jobs, was stopped by a signal that somebody sent; unless it is "
             "continued before (kill -CONT), that is done in 30 s";
    }
  }
  if (!since_ || now - *since_ < patience_) return told;
  since_.reset();
  ::kill(child_, SIGCONT);  // its pid can't be another's: nobody else waits for it
  return told;
}

std::optional<Duration> Standstill::next_look(Instant now) const {
  if (!since_) return std::nullopt;
  return std::max(Duration{}, *since_ + patience_ - now);
}

}  // namespace plimsoll::guardian

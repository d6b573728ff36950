#include "guardian/early_signals.h"

#include <signal.h>

namespace plimsoll::guardian {

bool EarlySignals::take(int number) {
  if (heartbeat_.has_begun()) return false;
  if (number == SIGTSTP) {
    ::kill(supervisor_, SIGSTOP);
    ::raise(SIGSTOP);
    ::kill(supervisor_, SIGCONT);
    return true;
  }
  const bool ends = number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
  if (!ends) return false;
  if (!killed_by_ && heartbeat_.prevent_begin()) {
    killed_by_ = number;
    ::kill(supervisor_, SIGKILL);
  }
  return killed_by_.has_value();
}

}  // namespace plimsoll::guardian

#include "supervisor/run/signal_relay.h"

#include <signal.h>

#include <utility>

namespace plimsoll::supervisor {

void SignalRelay::on_signal(const guardian::Signalled& signal) {
  if (guardian::asks_to_end(signal.number)) attempt_.give_up_removal();
  if (session_ == guardian::Session::own) return pass_on_to_session(signal);
  const bool from_process = signal.origin == guardian::SignalOrigin::process;
  const bool of_shell = signal.number == SIGCONT && std::exchange(stopped_by_terminal_, false);
  if (from_process && !of_shell && signal.number != SIGWINCH) attempt_.signal_main(signal.number);
  if (signal.number != SIGTSTP) return;
  stopped_by_terminal_ = signal.origin == guardian::SignalOrigin::terminal;
  host_.stop_guardian();
}

// Which no terminal signals, and which can't be stopped by SIGTSTP: nobody in its session could
// continue it (setpgid(2), orphaned process groups).
void SignalRelay::pass_on_to_session(const guardian::Signalled& signal) {
  if (signal.number == SIGTSTP) {
    attempt_.freeze();
    host_.stop_guardian();
  } else if (signal.origin == guardian::SignalOrigin::terminal) {
    attempt_.signal_all(signal.number);
  } else if (signal.origin == guardian::SignalOrigin::process) {
    attempt_.signal_main(signal.number);
  }
}

}  // namespace plimsoll::supervisor

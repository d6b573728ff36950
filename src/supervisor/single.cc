#include "supervisor/single.h"

#include <signal.h>

#include <utility>

namespace plimsoll::supervisor {
namespace {

// Hands on to the command what is sent to Plimsoll alone. The terminal and a shell's `fg` signal
// the whole process group, so the command has had those already: handed on late, the SIGCONT of a
// `fg` would undo the next Ctrl-Z.
class SignalRelay {
 public:
  SignalRelay(Supervisor& supervisor, Attempt& attempt, guardian::Session session)
      : supervisor_(supervisor), attempt_(attempt), session_(session) {}

  void pass_on(const guardian::Signalled& signal) {
    if (guardian::asks_to_end(signal.number)) attempt_.give_up_removal();
    if (session_ == guardian::Session::own) return pass_on_to_session(signal);
    const bool from_process = signal.origin == guardian::SignalOrigin::process;
    const bool of_shell = signal.number == SIGCONT && std::exchange(stopped_by_terminal_, false);
    if (from_process && !of_shell && signal.number != SIGWINCH) attempt_.signal_main(signal.number);
    if (signal.number != SIGTSTP) return;
    stopped_by_terminal_ = signal.origin == guardian::SignalOrigin::terminal;
    supervisor_.stop_guardian();
  }

 private:
  // Which no terminal signals, and which can't be stopped by SIGTSTP: nobody in its session could
  // continue it (setpgid(2), orphaned process groups).
  void pass_on_to_session(const guardian::Signalled& signal) {
    if (signal.number == SIGTSTP) {
      attempt_.freeze();
      supervisor_.stop_guardian();
    } else if (signal.origin == guardian::SignalOrigin::terminal) {
      attempt_.signal_all(signal.number);
    } else if (signal.origin == guardian::SignalOrigin::process) {
      attempt_.signal_main(signal.number);
    }
  }

  Supervisor& supervisor_;
  Attempt& attempt_;
  guardian::Session session_;
  bool stopped_by_terminal_ = false;
};

}  // namespace

Result<AttemptResult> run_single(Supervisor& supervisor, AttemptRequest request,
                                 SingleObserver observer) {
  std::optional<AttemptResult> ended;
  const guardian::Session session = request.spawn.session;
  Attempt attempt(supervisor, std::move(request),
                  {.over = [](const policy::AttemptEnd&) {},
                   .gone = [&ended](const AttemptResult& result) { ended = result; },
                   .sampled = std::move(observer.sampled),
                   .stuck = std::move(observer.stuck)});
  SignalRelay relay(supervisor, attempt, session);
  supervisor.on_signal([&relay](const guardian::Signalled& signal) { relay.pass_on(signal); });
  supervisor.on_resumed([&attempt] { attempt.thaw(); });
  attempt.start();
  Result<void> ran{};
  while (ran && !ended) ran = supervisor.run_once(Duration(-1));
  supervisor.on_signal({});
  supervisor.on_resumed({});
  if (!ran) return pass(std::move(ran));
  return std::move(*ended);
}

}  // namespace plimsoll::supervisor

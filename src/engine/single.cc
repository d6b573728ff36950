#include "engine/single.h"

#include <signal.h>

#include <utility>

namespace plimsoll::engine {
namespace {

// Hands on to the command what is sent to Plimsoll alone. The terminal and a shell's `fg` signal
// the whole process group, so the command has had those already: handed on late, the SIGCONT of a
// `fg` would undo the next Ctrl-Z.
class SignalRelay {
 public:
  SignalRelay(Machine& machine, Attempt& attempt) : machine_(machine), attempt_(attempt) {}

  void pass_on(const guardian::Signalled& signal) {
    const bool from_process = signal.origin == guardian::SignalOrigin::process;
    const bool of_shell = signal.number == SIGCONT && std::exchange(stopped_by_terminal_, false);
    if (from_process && !of_shell && signal.number != SIGWINCH) attempt_.signal_main(signal.number);
    if (signal.number != SIGTSTP) return;
    stopped_by_terminal_ = signal.origin == guardian::SignalOrigin::terminal;
    machine_.stop_guardian();
  }

 private:
  Machine& machine_;
  Attempt& attempt_;
  bool stopped_by_terminal_ = false;
};

}  // namespace

Result<AttemptResult> run_single(Machine& machine, AttemptRequest request,
                                 SingleObserver observer) {
  std::optional<AttemptResult> ended;
  Attempt attempt(machine, std::move(request),
                  {.over = [](const policy::AttemptEnd&) {},
                   .gone = [&ended](const AttemptResult& result) { ended = result; },
                   .looked = std::move(observer.looked),
                   .stuck = std::move(observer.stuck)});
  SignalRelay relay(machine, attempt);
  machine.on_signal([&relay](const guardian::Signalled& signal) { relay.pass_on(signal); });
  attempt.start();
  Result<void> ran{};
  while (ran && !ended) ran = machine.run_once(Duration(-1));
  machine.on_signal({});
  if (!ran) return pass(std::move(ran));
  return std::move(*ended);
}

}  // namespace plimsoll::engine

#include "engine/single.h"

#include <signal.h>

namespace plimsoll::engine {
namespace {

void pass_on(Machine& machine, Attempt& attempt, const guardian::Signalled& signal) {
  const bool from_process = signal.origin == guardian::SignalOrigin::process;
  if (from_process && signal.number != SIGWINCH) attempt.signal_main(signal.number);
  if (signal.number == SIGTSTP) machine.stop_guardian();
}

}  // namespace

Result<AttemptResult> run_single(Machine& machine, AttemptRequest request,
                                 std::function<void(const reap::Stuck&)> on_stuck) {
  std::optional<AttemptResult> ended;
  Attempt attempt(machine, std::move(request),
                  {.over = [](const policy::AttemptEnd&) {},
                   .gone = [&ended](const AttemptResult& result) { ended = result; },
                   .looked = {},
                   .stuck = std::move(on_stuck)});
  machine.on_signal([&](const guardian::Signalled& signal) { pass_on(machine, attempt, signal); });
  attempt.start();
  Result<void> ran{};
  while (ran && !ended) ran = machine.run_once(Duration(-1));
  machine.on_signal({});
  if (!ran) return pass(std::move(ran));
  return std::move(*ended);
}

}  // namespace plimsoll::engine

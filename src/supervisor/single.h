#pragma once

#include <functional>

#include "supervisor/attempt.h"
#include "supervisor/supervisor.h"

namespace plimsoll::supervisor {

// As Attempt::Callbacks has them.
struct SingleObserver {
  std::function<void(const reap::Stuck&)> stuck;
  std::function<void(const counters::Sample&)> sampled{};  // may be empty
};

// Runs one command to its end, as `plimsoll run` does. Signals sent to the guardian go on to the
// command. In the caller's session (Session::shared) those that it has had already (SignalOrigin)
// do not a second time, and Ctrl-Z stops the guardian with the command; in one of its own, those of
// the terminal go on to all its processes, and Ctrl-Z freezes it. Returns when the command's group
// is removed; an error means that the guardian was lost and everything was reaped.
Result<AttemptResult> run_single(Supervisor& supervisor, AttemptRequest request,
                                 SingleObserver observer);

}  // namespace plimsoll::supervisor

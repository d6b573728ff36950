#pragma once

#include "supervisor/attempt.h"
#include "supervisor/run_host.h"

namespace plimsoll::supervisor {

// As AttemptObserver has them.
class SingleObserver {
 public:
  SingleObserver() = default;
  SingleObserver(const SingleObserver&) = delete;
  SingleObserver& operator=(const SingleObserver&) = delete;
  virtual ~SingleObserver() = default;
  virtual void on_stuck(const reap::Stuck& stuck) = 0;
  virtual void on_sampled(const counters::Sample& /*sample*/) {}
};

// Runs one command to its end, as `plimsoll run` does. Signals sent to the guardian go on to the
// command. In the caller's session (Session::shared) those that it has had already (SignalOrigin)
// do not a second time, and Ctrl-Z stops the guardian with the command; in one of its own, those of
// the terminal go on to all its processes, and Ctrl-Z freezes it. Returns when the command's group
// is removed; an error means that the guardian was lost and everything was reaped.
Result<AttemptResult> run_single(RunHost& host, AttemptRequest request, SingleObserver& observer);

}  // namespace plimsoll::supervisor

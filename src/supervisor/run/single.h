#pragma once

#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "guardian/spawn_request.h"
#include "supervisor/attempt.h"
#include "supervisor/run_host.h"

namespace plimsoll::supervisor {

// Keeps the caller's terminal from a command that runs as another user, who could type into it
// (TIOCSTI of ioctl_tty(2)) and read what is typed. The command gets a session of its own, which
// has no terminal; as standard input /dev/null in place of one; where it prints to one, a
// descriptor that can only be written; and no other descriptors of the caller's.
class TerminalGuard {
 public:
  // Changes the request, which borrows descriptors of the guard's. For a command that shares the
  // caller's session it does nothing.
  static Result<TerminalGuard> over(guardian::SpawnRequest& request, guardian::Session session);

 private:
  std::vector<UniqueFd> opened_;
};

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

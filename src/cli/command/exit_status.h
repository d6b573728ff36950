#pragma once

#include "policy/queue/halt.h"
#include "supervisor/attempt.h"

// The conventions of timeout(1), env(1) and containers (plimsoll(1), "Exit status").
namespace plimsoll::cli {

inline constexpr int kSuccess = 0;
inline constexpr int kLostToMachine = 75;  // EX_TEMPFAIL of sysexits.h: try again
inline constexpr int kTimedOut = 124;
inline constexpr int kPlimsollFailed = 125;
inline constexpr int kCannotExecute = 126;
inline constexpr int kNotFound = 127;
inline constexpr int kSignalBase = 128;
inline constexpr int kOverLimit = kSignalBase + 9;
inline constexpr int kCancelled = kSignalBase + 15;

// The exit status of `plimsoll run` for what became of its command.
int exit_status_of(const supervisor::AttemptResult& result);

// The exit status of a batch that its halt policy has stopped, as of GNU parallel: 0 if that was by
// successes; of one job (fail=1, done=1) that of the job; of a percentage, what share of all jobs
// had failed or ended; else how many had failed.
int exit_status_of(const policy::Halted& halted);

}  // namespace plimsoll::cli

#pragma once

#include "engine/attempt.h"

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
int exit_status_of(const engine::AttemptResult& result);

}  // namespace plimsoll::cli

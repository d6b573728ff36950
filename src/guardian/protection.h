#pragma once

#include <optional>
#include <string>

// What keeps guardian and supervisor alive and quick when memory is short. For a run with many
// jobs; one command's guardian is no likelier a victim than the command.
namespace plimsoll::guardian {

// How far our processes go down among the kernel's victims: behind everything that has not been
// exempted altogether (-1000), which a program that starts others should not be.
inline constexpr int kOomScoreAdj = -900;

// Lowers this process's oom_score_adj. What it was, if it was lowered: for children, who inherit it
// and must not keep it. Nothing where that is not allowed (CAP_SYS_RESOURCE) or not needed.
std::optional<std::string> lower_oom_score();

// How nice the supervisor's loop and what works for it at once are: it wakes before those that keep
// the processors busy, and runs for some tens of microseconds each time.
inline constexpr int kSupervisorNice = -10;

// Puts the calling thread before others that want a processor, where that is allowed
// (CAP_SYS_NICE). Threads and processes that it makes are as nice as usual.
void go_before_others();

// Keeps what this process touches in memory from here on, and what it has there now: neither
// swapped nor dropped as clean pages of the program. Nothing is read ahead for it (MCL_ONFAULT).
// False where that is not allowed, or could make a later allocation fail: it takes CAP_IPC_LOCK of
// the machine itself, or no limit (RLIMIT_MEMLOCK). Not inherited by children.
bool lock_memory();

}  // namespace plimsoll::guardian

#pragma once

#include <signal.h>
#include <sys/resource.h>

// Steps around the splitting of the process in two (guardian.h).
namespace plimsoll::guardian {

// What the guardian takes by a descriptor.
sigset_t handled_signals();
// Those of them that the caller wants ignored. Jobs inherit it.
sigset_t ignored_signals();

// As if nothing had been between the signal and this process.
void die_of(int signal);

// A descriptor below 3 that is closed would be taken by the next open, and then be a child's stdin.
// Close-on-exec, so that for children it is closed as it was for us.
void occupy_stdio();

// Raises that of this process as far as it goes. What it was.
rlimit raise_descriptor_limit();

// What the supervisor does first.
void begin_as_supervisor();

}  // namespace plimsoll::guardian

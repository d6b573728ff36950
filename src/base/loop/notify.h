#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/units.h"

namespace plimsoll::loop {

// Tells systemd of this service's state, as sd_notify(3) has it ("READY=1"). Nothing happens where
// the program was not started as a service. For the main process, the guardian: others, jobs among
// them, are not heard (NotifyAccess=main).
void notify(const std::string& state);

// How often systemd wants to hear "WATCHDOG=1" of the service whose main process this is: half of
// what it waits for. Nothing: it does not want to.
std::optional<Duration> watchdog_interval(pid_t main);

}  // namespace plimsoll::loop

#pragma once

#include <sys/signalfd.h>

#include "guardian/protocol.h"

namespace plimsoll::guardian {

// Who has sent a signal to the guardian. Every process of a job descends from it, as orphans come
// to it. To be asked before children are waited for: the sender may be a zombie by now.
[[nodiscard]] SignalOrigin origin_of(const signalfd_siginfo& info);

}  // namespace plimsoll::guardian

#pragma once

#include "base/units.h"

namespace plimsoll::guardian {

// The monotonic clock, for the guardian, which has no loop.
Instant clock_now();

}  // namespace plimsoll::guardian

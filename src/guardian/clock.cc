#include "guardian/clock.h"

namespace plimsoll::guardian {

Instant clock_now() { return std::chrono::steady_clock::now(); }

}  // namespace plimsoll::guardian

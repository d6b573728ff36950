#pragma once

#include "kernel/counters/usage.h"

namespace plimsoll::counters {

// What a group has used since an earlier look at it, when nobody lived in it: what only grows less
// what it was then, memory less what was charged already. Averages of pressure are absent, as the
// kernel's reach further back, and so are user and system time: the kernel divides all that a group
// has ever used by the ticks of all its life.
[[nodiscard]] Sample since(Sample now, const Sample& start);

}  // namespace plimsoll::counters

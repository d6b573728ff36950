#pragma once

#include "kernel/counters/usage.h"

namespace plimsoll::counters {

// Takes off the counters of `sample` what they were at `base`. Gauges and `memory.peak` stay, as
// does pressure, which comes from v2 directories alone. A counter without a base stays as it is;
// one below its base, which the kernel doesn't do, becomes zero. pids.peak can't be reset: unless
// it has risen above its base it says nothing of this attempt and becomes absent.
void take_off(const Sample& base, Sample& sample);

}  // namespace plimsoll::counters

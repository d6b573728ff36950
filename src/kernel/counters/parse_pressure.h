#pragma once

#include <string_view>

#include "kernel/counters/usage.h"

namespace plimsoll::counters {

// The text of cpu.pressure, memory.pressure, io.pressure or /proc/pressure/* (kernel:
// accounting/psi):
//
//   some avg10=0.22 avg60=0.17 avg300=1.11 total=58761459
//   full avg10=0.22 avg60=0.16 avg300=1.08 total=58464525
//
// `total` is in microseconds. A line without a readable total is absent; other lines and fields of
// another form are skipped.
Pressure parse_pressure(std::string_view text);

}  // namespace plimsoll::counters

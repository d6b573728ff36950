#pragma once

#include <cstddef>
#include <cstdint>

#include "base/units.h"

namespace plimsoll::sim {

// What a simulation has come to so far.
struct Tally {
  std::size_t done = 0;         // jobs that exited by themselves
  std::uint64_t starts = 0;     // attempts
  std::uint64_t oom_kills = 0;  // by the kernel
  std::uint64_t evictions = 0;
  std::uint64_t pauses = 0;       // jobs that came to stand in the freezer
  double lost_cpu_seconds = 0;    // of attempts that did not exit by themselves
  double lost_curve_seconds = 0;  // what these had covered of their curves
  double cpu_seconds = 0;         // of all attempts
  double mib_seconds = 0;         // the integral of the pool's use
  double used_peak_mib = 0;
  Duration last_end{};  // when the last attempt was over, since the start of the simulation
};

}  // namespace plimsoll::sim

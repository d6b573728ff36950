#pragma once

#include <optional>

#include "kernel/counters/usage.h"

namespace plimsoll::counters {

// Time in which CPUs did work; guest time is in user time already, and stolen time was not ours.
Duration busy_time(const SystemSample::Cpu& cpu);

// Time in which CPUs had nothing to do, or only I/O to wait for.
Duration idle_time(const SystemSample::Cpu& cpu);

// Cores in use on average by others than those who used `own` of the CPU time, and how many there
// are.
struct OthersUse {
  double cores = 0;
  double of = 0;
};
// Absent where `span` is too short for what the kernel counts in ticks.
std::optional<OthersUse> use_of_others(const MachineUsage& machine, Duration own, Duration span);

// The machine over a stretch of time, from the samples taken in it: one for an attempt, one for a
// run. Small, so that each running job can have its own.
class MachineSpan {
 public:
  // Begins with `first`, the sample nearest before the start.
  explicit MachineSpan(const SystemSample& first);

  // Takes in a later sample.
  void observe(const SystemSample& sample);

  // From the first sample to the last that was observed.
  [[nodiscard]] const MachineUsage& usage() const { return usage_; }

 private:
  struct Totals {
    std::optional<Duration> busy, idle;
    std::optional<SystemSample::Cpu> cpu_times;
    MachineUsage::Stall cpu, memory, io;
  };
  static Totals totals_of(const SystemSample& sample);

  Totals first_;
  MachineUsage usage_;
};

}  // namespace plimsoll::counters

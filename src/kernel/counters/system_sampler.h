#pragma once

#include <string>

#include "base/units.h"
#include "kernel/counters/kernel_file.h"
#include "kernel/counters/usage.h"

namespace plimsoll::counters {

// Reads the whole machine from /proc with descriptors kept open. The only reader of
// /proc/pressure/*: who wants the machine's pressure asks it.
class SystemSampler {
 public:
  SystemSampler();

  // About 25 us. Pressure may be kPressureIntervalMin old. What can't be read is absent.
  [[nodiscard]] SystemSample sample(Instant now, WallTime wall);

  void note(Unavailable& unavailable) const;

 private:
  KernelFile stat_;
  KernelFile meminfo_;
  PressureFile cpu_pressure_;
  PressureFile memory_pressure_;
  PressureFile io_pressure_;
  long ticks_per_second_;
  std::string buffer_;
};

}  // namespace plimsoll::counters

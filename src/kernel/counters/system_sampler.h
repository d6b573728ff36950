#pragma once

#include <string>
#include <string_view>

#include "base/units.h"
#include "kernel/counters/kernel_file.h"
#include "kernel/counters/usage.h"

namespace plimsoll::counters {

// What /proc tells of the whole machine (proc(5)). Pressure: parse_pressure.h.

// /proc/stat: CPU times, context switches and process counts go into `sample`. Ticks are made into
// time with `ticks_per_second` (sysconf(_SC_CLK_TCK)). A CPU line with fewer than the ten columns
// gives what it has; one without four is absent.
void parse_proc_stat(std::string_view text, long ticks_per_second, SystemSample& sample);

// /proc/meminfo by the kernel's names, KiB made into bytes. Only the names of kMeminfoKept: a run
// holds many of these.
std::map<std::string, Bytes> parse_meminfo(std::string_view text);

inline constexpr std::string_view kMeminfoKept[] = {
    "MemTotal",  "MemFree",  "MemAvailable", "Buffers",  "Cached",      "SwapCached",
    "Active",    "Inactive", "SwapTotal",    "SwapFree", "Dirty",       "Writeback",
    "AnonPages", "Mapped",   "Shmem",        "Slab",     "SReclaimable"};

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

#include "kernel/counters/system_sampler.h"

#include <unistd.h>

#include "kernel/counters/parse_system.h"

namespace plimsoll::counters {

SystemSampler::SystemSampler()
    : stat_("/proc/stat", "machine.cpu_usage_ns"),
      meminfo_("/proc/meminfo", "machine.memory_available_min_bytes"),
      cpu_pressure_(KernelFile("/proc/pressure/cpu", "machine.pressure.cpu")),
      memory_pressure_(KernelFile("/proc/pressure/memory", "machine.pressure.memory")),
      io_pressure_(KernelFile("/proc/pressure/io", "machine.pressure.io")),
      ticks_per_second_(::sysconf(_SC_CLK_TCK)) {}

SystemSample SystemSampler::sample(Instant now, WallTime wall) {
  SystemSample sample;
  sample.at = now;
  sample.wall = wall;
  if (const auto text = stat_.read(buffer_)) parse_proc_stat(*text, ticks_per_second_, sample);
  if (const auto text = meminfo_.read(buffer_)) sample.meminfo = parse_meminfo(*text);
  sample.cpu_pressure = cpu_pressure_.read(now, buffer_);
  sample.memory_pressure = memory_pressure_.read(now, buffer_);
  sample.io_pressure = io_pressure_.read(now, buffer_);
  return sample;
}

void SystemSampler::note(Unavailable& unavailable) const {
  stat_.note(unavailable);
  meminfo_.note(unavailable);
  for (const auto* pressure : {&cpu_pressure_, &memory_pressure_, &io_pressure_}) {
    pressure->file().note(unavailable);
  }
}

}  // namespace plimsoll::counters

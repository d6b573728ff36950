#include "kernel/counters/system_sampler.h"

#include <unistd.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "kernel/counters/scale.h"

namespace plimsoll::counters {
namespace {

// Columns every kernel since 2.4 has: user, nice, system, idle.
constexpr int kColumnsMin = 4;

std::optional<SystemSample::Cpu> parse_cpu_line(std::string_view columns, Duration tick) {
  SystemSample::Cpu cpu;
  Duration* const fields[] = {&cpu.user, &cpu.nice,    &cpu.system, &cpu.idle,  &cpu.iowait,
                              &cpu.irq,  &cpu.softirq, &cpu.steal,  &cpu.guest, &cpu.guest_nice};
  int filled = 0;
  for (Duration* const field : fields) {
    columns = trim(columns);
    const auto ticks = to_u64(take_until(columns, ' '));
    if (!ticks) break;
    *field = scaled(*ticks, tick);
    ++filled;
  }
  if (filled < kColumnsMin) return std::nullopt;
  return cpu;
}

}  // namespace

void parse_proc_stat(std::string_view text, long ticks_per_second, SystemSample& sample) {
  PLIMSOLL_CHECK(ticks_per_second > 0);
  const Duration tick = Duration(std::chrono::seconds(1)) / ticks_per_second;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::string_view key = take_until(line, ' ');
    if (key == "cpu") sample.cpu = parse_cpu_line(line, tick);
    if (key == "ctxt") sample.context_switches = to_u64(line);
    if (key == "processes") sample.processes_created = to_u64(line);
    if (key == "procs_running") sample.processes_running = to_u64(line);
    if (key == "procs_blocked") sample.processes_blocked = to_u64(line);
  }
}

std::map<std::string, Bytes> parse_meminfo(std::string_view text) {
  std::map<std::string, Bytes> sizes;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::string_view name = take_until(line, ':');
    line = trim(line);
    const auto kib = to_u64(take_until(line, ' '));
    if (!kib || line != "kB" || *kib > (UINT64_MAX >> 10)) continue;
    if (std::ranges::find(kMeminfoKept, name) == std::end(kMeminfoKept)) continue;
    sizes.insert_or_assign(std::string(name), Bytes{*kib << 10});
  }
  return sizes;
}

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

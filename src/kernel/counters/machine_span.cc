#include "kernel/counters/machine_span.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace plimsoll::counters {
namespace {

// The longest Duration where that is too much: 256 CPUs are idle for 292 years in 14 months.
Duration sum(std::initializer_list<Duration> times) {
  Duration total{};
  for (const Duration time : times) {
    total = time > Duration::max() - total ? Duration::max() : total + time;
  }
  return total;
}

// Idle and iowait time can fall (proc(5)): then nothing has passed.
std::optional<Duration> since(const std::optional<Duration>& first,
                              const std::optional<Duration>& now) {
  if (!first || !now) return std::nullopt;
  return std::max(*now - *first, Duration::zero());
}

std::optional<SystemSample::Cpu> since(const std::optional<SystemSample::Cpu>& first,
                                       const std::optional<SystemSample::Cpu>& now) {
  using Cpu = SystemSample::Cpu;
  if (!first || !now) return std::nullopt;
  const auto passed = [&](Duration Cpu::* kind) {
    return std::max((*now).*kind - (*first).*kind, Duration::zero());
  };
  return Cpu{.user = passed(&Cpu::user),
             .nice = passed(&Cpu::nice),
             .system = passed(&Cpu::system),
             .idle = passed(&Cpu::idle),
             .iowait = passed(&Cpu::iowait),
             .irq = passed(&Cpu::irq),
             .softirq = passed(&Cpu::softirq),
             .steal = passed(&Cpu::steal),
             .guest = passed(&Cpu::guest),
             .guest_nice = passed(&Cpu::guest_nice)};
}

MachineUsage::Stall since(const MachineUsage::Stall& first, const MachineUsage::Stall& now) {
  return {.some = since(first.some, now.some), .full = since(first.full, now.full)};
}

MachineUsage::Stall stall_of(const std::optional<Pressure>& pressure) {
  MachineUsage::Stall stall;
  if (pressure && pressure->some) stall.some = pressure->some->total;
  if (pressure && pressure->full) stall.full = pressure->full->total;
  return stall;
}

std::optional<Bytes> size_of(const SystemSample& sample, const char* name) {
  const auto found = sample.meminfo.find(name);
  if (found == sample.meminfo.end()) return std::nullopt;
  return found->second;
}

}  // namespace

Duration busy_time(const SystemSample::Cpu& cpu) {
  return sum({cpu.user, cpu.nice, cpu.system, cpu.irq, cpu.softirq});
}

Duration idle_time(const SystemSample::Cpu& cpu) { return sum({cpu.idle, cpu.iowait}); }

std::optional<OthersUse> use_of_others(const MachineUsage& machine, Duration own, Duration span) {
  constexpr Duration kSpanMin = std::chrono::seconds(1);  // a hundred ticks of each CPU
  if (span < kSpanMin || !machine.cpu_usage || !machine.cpu_idle) return std::nullopt;
  const Duration stolen = machine.cpu ? machine.cpu->steal : Duration{};
  const Duration whole = sum({*machine.cpu_usage, *machine.cpu_idle, stolen});
  const double seconds = to_seconds(span);
  return OthersUse{.cores = std::max(0.0, to_seconds(*machine.cpu_usage - own) / seconds),
                   .of = std::round(to_seconds(whole) / seconds)};
}

MachineSpan::Totals MachineSpan::totals_of(const SystemSample& sample) {
  Totals totals{.busy = std::nullopt,
                .idle = std::nullopt,
                .cpu_times = sample.cpu,
                .cpu = stall_of(sample.cpu_pressure),
                .memory = stall_of(sample.memory_pressure),
                .io = stall_of(sample.io_pressure)};
  if (sample.cpu) {
    totals.busy = busy_time(*sample.cpu);
    totals.idle = idle_time(*sample.cpu);
  }
  return totals;
}

MachineSpan::MachineSpan(const SystemSample& first) : first_(totals_of(first)) { observe(first); }

void MachineSpan::observe(const SystemSample& sample) {
  const Totals now = totals_of(sample);
  usage_.cpu_usage = since(first_.busy, now.busy);
  usage_.cpu_idle = since(first_.idle, now.idle);
  usage_.cpu = since(first_.cpu_times, now.cpu_times);
  usage_.cpu_stall = since(first_.cpu, now.cpu);
  usage_.memory_stall = since(first_.memory, now.memory);
  usage_.io_stall = since(first_.io, now.io);
  usage_.memory_total = size_of(sample, "MemTotal");
  const auto available = size_of(sample, "MemAvailable");
  auto& least = usage_.memory_available_min;
  if (available && (!least || *available < *least)) least = available;
}

}  // namespace plimsoll::counters

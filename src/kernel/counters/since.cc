#include "kernel/counters/since.h"

#include <algorithm>

namespace plimsoll::counters {
namespace {

// The kernel charges in batches of 64 pages: a new group has so much at its first page already.
constexpr Bytes kChargeBatch{256 << 10};

template <class T>
void take_off(std::optional<T>& now, const std::optional<T>& start) {
  if (now && start) now = *now - std::min(*now, *start);
}

void take_off(std::optional<PressureLine>& now, const std::optional<PressureLine>& start) {
  if (!now) return;
  const Duration before = start ? std::min(now->total, start->total) : Duration{};
  now = PressureLine{.total = now->total - before};
}

void take_off(std::optional<Pressure>& now, const std::optional<Pressure>& start) {
  if (!now) return;
  const Pressure before = start.value_or(Pressure());
  take_off(now->some, before.some);
  take_off(now->full, before.full);
}

void take_off(CpuUsage& now, const CpuUsage& start) {
  take_off(now.usage, start.usage);
  now.user.reset();
  now.system.reset();
  take_off(now.nr_periods, start.nr_periods);
  take_off(now.nr_throttled, start.nr_throttled);
  take_off(now.throttled, start.throttled);
  take_off(now.pressure, start.pressure);
}

void take_off(MemoryEvents& now, const MemoryEvents& start) {
  take_off(now.low, start.low);
  take_off(now.high, start.high);
  take_off(now.max, start.max);
  take_off(now.oom, start.oom);
  take_off(now.oom_kill, start.oom_kill);
  take_off(now.oom_group_kill, start.oom_group_kill);
}

// Of what small processes leave, such as their kernel stacks, the kernel gives back much only
// later.
void take_off(MemoryUsage& now, const MemoryUsage& start) {
  take_off(now.current, start.current);
  take_off(now.peak, start.current);
  if (now.peak) now.peak = std::max(*now.peak, kChargeBatch);
  take_off(now.used, start.used);
  take_off(now.stat.kernel, start.stat.kernel);
  take_off(now.events, start.events);
  take_off(now.stat.pgscan, start.stat.pgscan);
  take_off(now.stat.pgsteal, start.stat.pgsteal);
  take_off(now.stat.pgfault, start.stat.pgfault);
  take_off(now.stat.pgmajfault, start.stat.pgmajfault);
  take_off(now.pressure, start.pressure);
}

void take_off(IoUsage& now, const IoUsage& start) {
  take_off(now.read, start.read);
  take_off(now.written, start.written);
  take_off(now.discarded, start.discarded);
  take_off(now.read_ops, start.read_ops);
  take_off(now.write_ops, start.write_ops);
  take_off(now.discard_ops, start.discard_ops);
  take_off(now.pressure, start.pressure);
}

}  // namespace

Sample since(Sample now, const Sample& start) {
  take_off(now.cpu, start.cpu);
  take_off(now.memory, start.memory);
  take_off(now.io, start.io);
  take_off(now.pids.events_max, start.pids.events_max);
  take_off(now.frozen, start.frozen);
  return now;
}

}  // namespace plimsoll::counters

#include "kernel/counters/baseline.h"

namespace plimsoll::counters {
namespace {

template <class T>
void less(std::optional<T>& value, const std::optional<T>& base) {
  if (value && base) value = *value > *base ? T{*value - *base} : T{};
}

}  // namespace

void take_off(const Sample& base, Sample& sample) {
  less(sample.cpu.usage, base.cpu.usage);
  less(sample.cpu.user, base.cpu.user);
  less(sample.cpu.system, base.cpu.system);
  less(sample.cpu.nr_periods, base.cpu.nr_periods);
  less(sample.cpu.nr_throttled, base.cpu.nr_throttled);
  less(sample.cpu.throttled, base.cpu.throttled);

  less(sample.memory.events.low, base.memory.events.low);
  less(sample.memory.events.high, base.memory.events.high);
  less(sample.memory.events.max, base.memory.events.max);
  less(sample.memory.events.oom, base.memory.events.oom);
  less(sample.memory.events.oom_kill, base.memory.events.oom_kill);
  less(sample.memory.events.oom_group_kill, base.memory.events.oom_group_kill);
  less(sample.memory.stat.pgscan, base.memory.stat.pgscan);
  less(sample.memory.stat.pgsteal, base.memory.stat.pgsteal);
  less(sample.memory.stat.pgfault, base.memory.stat.pgfault);
  less(sample.memory.stat.pgmajfault, base.memory.stat.pgmajfault);

  less(sample.io.read, base.io.read);
  less(sample.io.written, base.io.written);
  less(sample.io.discarded, base.io.discarded);
  less(sample.io.read_ops, base.io.read_ops);
  less(sample.io.write_ops, base.io.write_ops);
  less(sample.io.discard_ops, base.io.discard_ops);

  less(sample.pids.events_max, base.pids.events_max);
  if (sample.pids.peak && base.pids.peak && *sample.pids.peak <= *base.pids.peak) {
    sample.pids.peak.reset();
  }
  less(sample.frozen, base.frozen);
}

}  // namespace plimsoll::counters

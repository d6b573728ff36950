#include "supervisor/pool_sampler.h"

#include <algorithm>
#include <utility>

#include "base/loop/loop.h"
#include "kernel/counters/machine_span.h"
#include "supervisor/processes/families.h"

namespace plimsoll::supervisor {
namespace {

std::optional<double> share(const std::optional<counters::PressureLine>& now,
                            const std::optional<counters::PressureLine>& before, double elapsed) {
  if (!now || !before || elapsed <= 0) return std::nullopt;
  return std::clamp(to_seconds(now->total - before->total) / elapsed, 0.0, 1.0);
}

std::optional<counters::PressureLine> some(const std::optional<counters::Pressure>& pressure) {
  return pressure ? pressure->some : std::nullopt;
}

std::optional<counters::PressureLine> full(const std::optional<counters::Pressure>& pressure) {
  return pressure ? pressure->full : std::nullopt;
}

std::optional<Bytes> meminfo(const counters::SystemSample& machine, const char* key) {
  const auto found = machine.meminfo.find(key);
  return found == machine.meminfo.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

PoolSampler::PoolSampler(const cgroup::Group& pool, Families* families)
    : memory_(pool), cpu_(pool), io_(pool), families_(families) {
  if (const auto* v2 = pool.v2()) {
    pressure_ = counters::PressureFile(counters::KernelFile(*v2, "memory.pressure", "pressure"));
    io_pressure_ = counters::PressureFile(counters::KernelFile(*v2, "io.pressure", "io.pressure"));
  }
}

policy::MachineSample PoolSampler::look(const counters::SystemSample& machine) {
  usage_ = {};  // what can't be read any more is absent
  memory_.read(counters::Level::full, usage_, buffer_);
  pressure_seen_ = pressure_.read(machine.at, buffer_);
  const auto of_pool = some(pressure_seen_);
  const auto stalled = of_pool ? of_pool : some(machine.memory_pressure);
  stalled_ = stalled ? std::optional(stalled->total) : std::nullopt;
  policy::MachineSample sample;
  sample.pool_used = pool_used();
  peak_ = std::max(peak_, sample.pool_used.value_or(Bytes{}));
  sample.available = meminfo(machine, "MemAvailable");
  if (meminfo(machine, "SwapTotal").value_or(Bytes{}) > Bytes{}) {
    sample.swap_free = meminfo(machine, "SwapFree");
  }
  tell_shares(machine, sample);
  return sample;
}

std::optional<Bytes> PoolSampler::pool_used() {
  if (families_ == nullptr) return usage_.used ? usage_.used : usage_.current;
  families_->look(loop::now());
  return families_->used();
}

std::optional<Duration> PoolSampler::pool_cpu() {
  counters::CpuUsage usage;
  cpu_.read_usage(usage, buffer_);
  return usage.usage;
}

std::optional<policy::PoolIo> PoolSampler::pool_io(Instant now, double elapsed) {
  counters::IoUsage seen;
  io_.read(seen, buffer_);
  seen.pressure = io_pressure_.read(now, buffer_);
  const counters::IoUsage before = std::exchange(io_before_, seen);
  const auto moved = seen.moved();
  if (!last_ && some(seen.pressure) && moved) return policy::PoolIo{};
  const auto waited = share(some(seen.pressure), some(before.pressure), elapsed);
  const auto moved_before = before.moved();
  if (!waited || !moved || !moved_before || *moved < *moved_before) return std::nullopt;
  return policy::PoolIo{.waited = *waited,
                        .bytes_per_second = to_double(*moved - *moved_before) / elapsed};
}

void PoolSampler::tell_shares(const counters::SystemSample& machine,
                              policy::MachineSample& sample) {
  if (!last_) {
    pool_cpu_ = pool_cpu();
    pool_io_ = pool_io(machine.at, 0);
    last_ = machine;
  } else if (machine.at - last_->at >= kShareSpan) {
    const double elapsed = to_seconds(machine.at - last_->at);
    cores_busy_.reset();
    pool_cores_.reset();
    if (machine.cpu && last_->cpu) {
      const Duration busy = counters::busy_time(*machine.cpu) - counters::busy_time(*last_->cpu);
      cores_busy_ = std::max(0.0, to_seconds(busy) / elapsed);
    }
    const auto cpu = pool_cpu();
    if (cpu && pool_cpu_) pool_cores_ = std::max(0.0, to_seconds(*cpu - *pool_cpu_) / elapsed);
    pool_cpu_ = cpu;
    stall_ = {
        .cpu_some = share(some(machine.cpu_pressure), some(last_->cpu_pressure), elapsed),
        .memory_full = share(full(machine.memory_pressure), full(last_->memory_pressure), elapsed),
        .io_full = share(full(machine.io_pressure), full(last_->io_pressure), elapsed)};
    pool_io_ = pool_io(machine.at, elapsed);
    last_ = machine;
  }
  sample.io = pool_io_;
  sample.cores_busy = cores_busy_;
  sample.pool_cores = pool_cores_;
  sample.stall = stall_;
}

}  // namespace plimsoll::supervisor

#include "engine/pool_sampler.h"

#include <algorithm>
#include <cmath>

#include "measure/machine_span.h"

namespace plimsoll::engine {
namespace {

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

std::optional<double> share(const std::optional<measure::PressureLine>& now,
                            const std::optional<measure::PressureLine>& before, double elapsed) {
  if (!now || !before || elapsed <= 0) return std::nullopt;
  return std::clamp(seconds(now->total - before->total) / elapsed, 0.0, 1.0);
}

std::optional<measure::PressureLine> some(const std::optional<measure::Pressure>& pressure) {
  return pressure ? pressure->some : std::nullopt;
}

std::optional<measure::PressureLine> full(const std::optional<measure::Pressure>& pressure) {
  return pressure ? pressure->full : std::nullopt;
}

std::optional<Bytes> meminfo(const measure::SystemSample& machine, const char* key) {
  const auto found = machine.meminfo.find(key);
  return found == machine.meminfo.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

policy::MachineSample PoolSampler::look(const measure::SystemSample& machine) {
  memory_.read(measure::Level::full, usage_, buffer_);
  policy::MachineSample sample;
  sample.pool_used = usage_.used.value_or(usage_.current.value_or(Bytes{}));
  peak_ = std::max(peak_, sample.pool_used);
  sample.available = meminfo(machine, "MemAvailable");
  if (meminfo(machine, "SwapTotal").value_or(Bytes{}) > Bytes{}) {
    sample.swap_free = meminfo(machine, "SwapFree");
  }
  if (machine.processes_running) {
    const auto now = static_cast<double>(*machine.processes_running);
    const double gap = last_ ? seconds(machine.at - last_->at) : 0;
    const double weight = runnable_ ? -std::expm1(-gap / seconds(kRunnableTime)) : 1;
    runnable_ = runnable_.value_or(0) * (1 - weight) + now * weight;
    sample.runnable = static_cast<std::uint64_t>(std::llround(*runnable_));
  }
  if (last_) {
    const double elapsed = seconds(machine.at - last_->at);
    if (machine.cpu && last_->cpu && elapsed > 0) {
      const Duration busy = measure::busy_time(*machine.cpu) - measure::busy_time(*last_->cpu);
      sample.cores_busy = std::max(0.0, seconds(busy) / elapsed);
    }
    sample.stall = {
        .cpu_some = share(some(machine.cpu_pressure), some(last_->cpu_pressure), elapsed),
        .memory_full = share(full(machine.memory_pressure), full(last_->memory_pressure), elapsed),
        .io_full = share(full(machine.io_pressure), full(last_->io_pressure), elapsed)};
  }
  last_ = machine;
  return sample;
}

}  // namespace plimsoll::engine

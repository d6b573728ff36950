#pragma once

#include <array>
#include <optional>

#include "kernel/counters/machine_span.h"
#include "kernel/counters/series.h"
#include "kernel/counters/usage.h"

// The bounded series of the two kinds of samples.
namespace plimsoll::counters {

// Stall time of at least one task as seconds; absent without pressure.
inline std::optional<double> stalled_seconds(const std::optional<Pressure>& pressure) {
  if (!pressure || !pressure->some) return std::nullopt;
  return to_seconds(pressure->some->total);
}

// Of a job: the highest memory, used and processes; the steepest CPU time and stalls.
struct JobTraits {
  static Duration time_of(const Sample& sample) { return sample.t; }

  static constexpr std::size_t kGauges = 3;
  static std::array<std::optional<double>, kGauges> gauges(const Sample& sample) {
    const auto size = [](std::optional<Bytes> bytes) {
      return bytes ? std::optional(static_cast<double>(bytes->count)) : std::nullopt;
    };
    const auto pids = sample.pids.current;
    return {size(sample.memory.current), size(sample.memory.used),
            pids ? std::optional(static_cast<double>(*pids)) : std::nullopt};
  }

  static constexpr std::size_t kCounters = 4;
  static std::array<std::optional<double>, kCounters> counters(const Sample& sample) {
    const auto usage = sample.cpu.usage;
    return {usage ? std::optional(to_seconds(*usage)) : std::nullopt,
            stalled_seconds(sample.cpu.pressure), stalled_seconds(sample.memory.pressure),
            stalled_seconds(sample.io.pressure)};
  }
};
using JobSeries = Series<Sample, JobTraits>;

// Of the machine: the lowest available memory, the most processes that run; the steepest busy time
// and stalls.
struct SystemTraits {
  static Duration time_of(const SystemSample& sample) { return sample.at.time_since_epoch(); }

  static constexpr std::size_t kGauges = 2;
  static std::array<std::optional<double>, kGauges> gauges(const SystemSample& sample) {
    const auto available = sample.meminfo.find("MemAvailable");
    const auto running = sample.processes_running;
    return {available != sample.meminfo.end() ? std::optional(-to_double(available->second))
                                              : std::nullopt,
            running ? std::optional(static_cast<double>(*running)) : std::nullopt};
  }

  static constexpr std::size_t kCounters = 4;
  static std::array<std::optional<double>, kCounters> counters(const SystemSample& sample) {
    return {busy_seconds(sample), stalled_seconds(sample.cpu_pressure),
            stalled_seconds(sample.memory_pressure), stalled_seconds(sample.io_pressure)};
  }

 private:
  static std::optional<double> busy_seconds(const SystemSample& sample) {
    if (!sample.cpu) return std::nullopt;
    return to_seconds(busy_time(*sample.cpu));
  }
};
using SystemSeries = Series<SystemSample, SystemTraits>;

}  // namespace plimsoll::counters

#include "kernel/counters/parse_cpu.h"

#include "base/check.h"
#include "base/text.h"
#include "kernel/counters/scale.h"

namespace plimsoll::counters {

CpuUsage parse_cpu_stat_v2(std::string_view text) {
  CpuUsage cpu;
  while (const auto line = take_keyed_number(text)) {
    if (line->key == "usage_usec") cpu.usage = from_us(line->value);
    if (line->key == "user_usec") cpu.user = from_us(line->value);
    if (line->key == "system_usec") cpu.system = from_us(line->value);
    if (line->key == "nr_periods") cpu.nr_periods = line->value;
    if (line->key == "nr_throttled") cpu.nr_throttled = line->value;
    if (line->key == "throttled_usec") cpu.throttled = from_us(line->value);
  }
  return cpu;
}

CpuUsage parse_cpu_stat_v1(std::string_view text) {
  CpuUsage cpu;
  while (const auto line = take_keyed_number(text)) {
    if (line->key == "nr_periods") cpu.nr_periods = line->value;
    if (line->key == "nr_throttled") cpu.nr_throttled = line->value;
    if (line->key == "throttled_time") cpu.throttled = from_ns(line->value);
  }
  return cpu;
}

CpuUsage parse_cpuacct_stat(std::string_view text, long ticks_per_second) {
  PLIMSOLL_CHECK(ticks_per_second > 0);
  const Duration tick = Duration(std::chrono::seconds(1)) / ticks_per_second;
  CpuUsage cpu;
  while (const auto line = take_keyed_number(text)) {
    if (line->key == "user") cpu.user = scaled(line->value, tick);
    if (line->key == "system") cpu.system = scaled(line->value, tick);
  }
  return cpu;
}

std::optional<Duration> parse_cpuacct_usage(std::string_view text) {
  const auto count = to_u64(trim(text));
  if (!count) return std::nullopt;
  return from_ns(*count);
}

}  // namespace plimsoll::counters

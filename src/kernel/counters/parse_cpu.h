#pragma once

#include <optional>
#include <string_view>

#include "kernel/counters/usage.h"

// The CPU counters of a group. Each parser fills what its file tells and leaves the rest absent.
namespace plimsoll::counters {

// cpu.stat of v2: `usage_usec`, `user_usec`, `system_usec` always; `nr_periods`, `nr_throttled`,
// `throttled_usec` with the cpu controller.
CpuUsage parse_cpu_stat_v2(std::string_view text);

// cpu.stat of v1, which tells throttling only: `nr_periods`, `nr_throttled`, and `throttled_time`
// in nanoseconds.
CpuUsage parse_cpu_stat_v1(std::string_view text);

// cpuacct.stat of v1: `user` and `system` in ticks, of which a second has `ticks_per_second`
// (sysconf(_SC_CLK_TCK)).
CpuUsage parse_cpuacct_stat(std::string_view text, long ticks_per_second);

// cpuacct.usage of v1: the CPU time in nanoseconds, and nothing else.
std::optional<Duration> parse_cpuacct_usage(std::string_view text);

}  // namespace plimsoll::counters

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernel/cgroup/group.h"
#include "kernel/counters/kernel_file.h"
#include "kernel/counters/usage.h"

namespace plimsoll::counters {

// The CPU counters of a group. Each parser fills what its file tells and leaves the rest absent.

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

// Where the CPU counters of a group are: time from cpu.stat of v2 if the host has a v2 tree, with
// or without its cpu controller, else from cpuacct; throttling from the cpu controller wherever it
// is; stalls from cpu.pressure of v2.
class CpuFiles {
 public:
  explicit CpuFiles(const cgroup::Group& group);

  // Brings CPU time up to date; what can't be read stays as it is.
  void read_usage(CpuUsage& cpu, std::string& buffer);
  // And what else a full look has: throttling; on v1 also user and system time.
  void read_rest(CpuUsage& cpu, std::string& buffer);
  [[nodiscard]] bool gone() const;
  // KernelFile::has_failed() of any.
  [[nodiscard]] bool has_failed() const;
  void note(Unavailable& unavailable) const;

 private:
  KernelFile stat_v2_;
  KernelFile stat_v1_;
  KernelFile acct_usage_;
  KernelFile acct_stat_;
  long ticks_per_second_;
  std::string missing_;  // why there is no CPU time at all; empty: there is
};

}  // namespace plimsoll::counters

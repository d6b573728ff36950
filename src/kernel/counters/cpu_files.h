#pragma once

#include <string>

#include "kernel/cgroup/group.h"
#include "kernel/counters/kernel_file.h"
#include "kernel/counters/usage.h"

namespace plimsoll::counters {

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

#pragma once

#include <optional>

#include "base/limits.h"
#include "base/result.h"
#include "base/units.h"
#include "kernel/cgroup/directory.h"
#include "kernel/cgroup/group.h"

namespace plimsoll::cgroup {

// The controllers that a group must have for these limits to be set on it.
ControllerSet controllers_for(const Limits& limits);

// Sets the limits on a new group, before a process is in it. On v2 also memory.oom.group, so that
// the kernel kills a job over its limit whole. v1 twins are used where the controller is on v1;
// what has none (memory.high) and what the kernel refuses is an error whose text names the option,
// the reason and what would help. Files and units: docs/cgroups.md, "Limits".
Result<void> apply_limits(const Group& group, const Limits& limits);

// So much CPU time in each period: the kernel's default one while the quota that it asks for is
// enough in it, else a longer one. For kCpusMin cores and more.
struct CpuQuota {
  std::uint64_t quota_us = 0;
  std::uint64_t period_us = 0;
  bool operator==(const CpuQuota&) const = default;
};
CpuQuota cpu_quota_of(double cpus);

// Sets or lifts (no value) the CPU quota of a group, in cores.
Result<void> set_cpus(const Group& group, std::optional<double> cpus);

// Sets what `limits.weight` asks for, where a weight of CPU or I/O is not named by itself. A wish:
// what the kernel has no weight for stays as it is.
void weigh(const Group& group, const Limits& limits);

// Sets what a group gets against those beside it, in the unit of v2: kWeightDefault is what one
// ordinary process or group has. Beyond what the kernel takes, its least or most. An error names
// `option` as who asked for it.
Result<void> set_cpu_weight(const Group& group, double weight, const std::string& option);
Result<void> set_io_weight(const Group& group, double weight, const std::string& option);

// The kernel's defaults of cpu.weight (v2) and cpu.shares (v1), which mean the same.
inline constexpr double kWeightDefault = 100, kSharesDefault = 1024;
// v1's cpu.shares for a v2 weight.
std::uint64_t cpu_shares_of(double weight);

// An eventfd that fires when the v1 group runs into its limit and the kernel's OOM killer acts
// there (cgroup-v1 memory, "OOM Control").
Result<UniqueFd> open_v1_oom_event(const Directory& memory);

// Has the kernel take back about `amount` from a group and all below it: clean page cache, and what
// it can swap. v2 by memory.reclaim (5.19), v1 by memory.force_empty, which takes all that it can.
//
// Blocks as long as the reclaim takes, seconds at times. resource_unavailable_try_again (Error):
// less than `amount` could be had.
Result<void> reclaim(const Directory& memory, Bytes amount);

}  // namespace plimsoll::cgroup

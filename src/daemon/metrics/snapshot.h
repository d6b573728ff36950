#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "kernel/counters/usage.h"
#include "kernel/monitor/monitor_slot.h"
#include "policy/scheduler/scheduler.h"
#include "supervisor/sharing/lease.h"

namespace plimsoll::metrics {

// What is so at one moment; whoever owns the state fills it in when it is asked for. Absent is what
// is not known, and is not served.
struct Snapshot {
  policy::SchedulerStatus scheduler;
  std::vector<monitor::Status> monitors;
  std::optional<counters::SystemSample> machine{};
  // Of the pool's memory; absent where it is no cgroup.
  std::optional<counters::Pressure> pool_memory{};
  // Runs that share the line by a lease; absent where nothing is leased.
  std::optional<supervisor::Others> others{};
  std::size_t external_jobs = 0;  // of the running and waiting: jobs that their clients run
  std::size_t connections = 0;    // open streams of clients
  // What was thrown away because a writer to the disk did not keep up.
  std::uint64_t records_dropped = 0;
  std::uint64_t samples_dropped = 0;
  std::uint64_t looks = 0;  // at pool and machine
  Duration longest_turn{};  // of the loop
  bool draining = false;
};

}  // namespace plimsoll::metrics

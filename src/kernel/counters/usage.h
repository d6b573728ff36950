#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

// What can be known of a job's use of the machine, as values. Absent means that the host could not
// tell; it is never zero. Counters are of the attempt alone: where the kernel counts from another
// start, the start has been taken off. Sources per hierarchy: docs/cgroups.md.
namespace plimsoll::counters {

// One line of a pressure file: averages in per cent of wall time, and the running total.
struct PressureLine {
  std::optional<double> avg10{};
  std::optional<double> avg60{};
  std::optional<double> avg300{};
  Duration total{};
  bool operator==(const PressureLine&) const = default;
};

struct Pressure {
  std::optional<PressureLine> some{};
  std::optional<PressureLine> full{};
  bool operator==(const Pressure&) const = default;
};

struct CpuUsage {
  std::optional<Duration> usage{};
  std::optional<Duration> user{};
  std::optional<Duration> system{};
  std::optional<std::uint64_t> nr_periods{};
  std::optional<std::uint64_t> nr_throttled{};
  std::optional<Duration> throttled{};
  std::optional<Pressure> pressure{};
};

// Counts of memory.events (v2). On v1 only `oom_kill` and, as `max`, the limit hits of
// memory.failcnt exist. `oom_kill` over-counts under memory.oom.group: read it as "more than none".
struct MemoryEvents {
  std::optional<std::uint64_t> low{};
  std::optional<std::uint64_t> high{};
  std::optional<std::uint64_t> max{};
  std::optional<std::uint64_t> oom{};
  std::optional<std::uint64_t> oom_kill{};
  std::optional<std::uint64_t> oom_group_kill{};
  bool operator==(const MemoryEvents&) const = default;
};

// The keys of memory.stat that reports name. On v1 from the hierarchical total_* keys.
struct MemoryStat {
  std::optional<Bytes> anon{};
  std::optional<Bytes> file{};
  std::optional<Bytes> kernel{};
  std::optional<Bytes> kernel_stack{};
  std::optional<Bytes> page_tables{};
  std::optional<Bytes> sock{};
  std::optional<Bytes> vmalloc{};
  std::optional<Bytes> shmem{};
  std::optional<Bytes> file_mapped{};
  std::optional<Bytes> file_dirty{};
  std::optional<Bytes> file_writeback{};
  std::optional<Bytes> inactive_file{};
  std::optional<Bytes> slab{};
  std::optional<Bytes> slab_reclaimable{};
  std::optional<std::uint64_t> pgscan{};
  std::optional<std::uint64_t> pgsteal{};
  std::optional<std::uint64_t> pgfault{};
  std::optional<std::uint64_t> pgmajfault{};
};

struct MemoryUsage {
  std::optional<Bytes> current{};  // everything charged, clean page cache too
  std::optional<Bytes> used{};     // what can't be dropped (the word of the glossary)
  std::optional<Bytes> peak{};
  // At the end of a job that was over before it was looked at often: its highest `used`, at least.
  std::optional<Bytes> used_peak_least{};
  // The highest `used` that a look has found, where no counter tells the peak: process mode.
  std::optional<Bytes> sampled_peak{};
  std::optional<Bytes> swap_current{};
  std::optional<Bytes> swap_peak{};  // v2 only
  std::optional<Bytes> max{};        // the group's own limit, if it has one
  MemoryEvents events;
  MemoryStat stat;
  std::optional<Pressure> pressure{};
};

struct IoUsage {
  std::optional<Bytes> read{};
  std::optional<Bytes> written{};
  std::optional<Bytes> discarded{};
  std::optional<std::uint64_t> read_ops{};
  std::optional<std::uint64_t> write_ops{};
  std::optional<std::uint64_t> discard_ops{};
  std::optional<Pressure> pressure{};
  // Both directions together; absent where neither is known.
  [[nodiscard]] std::optional<Bytes> moved() const {
    if (!read && !written) return std::nullopt;
    return read.value_or(Bytes{}) + written.value_or(Bytes{});
  }
};

struct PidsUsage {
  std::optional<std::uint64_t> current{};
  std::optional<std::uint64_t> peak{};
  std::optional<std::uint64_t> events_max{};
};

// As the job itself sees it: rx is what the job received.
struct NetworkUsage {
  Bytes rx;
  Bytes tx;
  std::uint64_t rx_packets = 0;
  std::uint64_t tx_packets = 0;
};

enum class SampleState : std::uint8_t { running, paused };

// How much of a group is read in one look. `cheap` is CPU time, memory (current, peak, events),
// processes and the three pressure files; `full` adds memory.stat and what rests on it, swap, the
// group's limit, throttling, I/O and network.
enum class Level : std::uint8_t { cheap, full };

// One look at a group while it runs, or the last after its processes have ended.
struct Sample {
  Duration t{};  // since the attempt's start
  WallTime wall{};
  SampleState state = SampleState::running;
  CpuUsage cpu;
  MemoryUsage memory;
  IoUsage io;
  PidsUsage pids;
  std::optional<NetworkUsage> network{};
  std::optional<Duration>
      frozen{};  // in the freezer, by the kernel's own clock; newest kernels only
};

// Keys of a report that could not be had, and why in words: {"network", "no CAP_BPF"}.
using Unavailable = std::map<std::string, std::string>;

// What an attempt has used in all.
struct JobUsage {
  Sample totals;                // the last look: counters and peaks of the whole attempt
  MemoryStat stat_at_peak;      // memory.stat of the sample with the highest `current`
  std::vector<Sample> samples;  // bounded, in order, extremes kept
  // Shared memory that was still charged when its last process had ended: files in /dev/shm or
  // another tmpfs. Absent if there is little or none, or that can't be told.
  std::optional<Bytes> left{};
  Unavailable unavailable;
};

// The whole machine at one moment; from /proc. CPU times are sums over all CPUs since boot.
struct SystemSample {
  Instant at{};
  WallTime wall{};
  struct Cpu {  // /proc/stat, in ticks made into time
    Duration user{}, nice{}, system{}, idle{}, iowait{}, irq{}, softirq{}, steal{}, guest{},
        guest_nice{};
  };
  std::optional<Cpu> cpu{};
  std::optional<std::uint64_t> context_switches{};
  std::optional<std::uint64_t> processes_created{};
  std::optional<std::uint64_t> processes_running{};
  std::optional<std::uint64_t> processes_blocked{};
  std::map<std::string, Bytes> meminfo;  // by the kernel's names: MemTotal, MemAvailable, ...
  std::optional<Pressure> cpu_pressure{};
  std::optional<Pressure> memory_pressure{};
  std::optional<Pressure> io_pressure{};
};

// The machine over the time of one attempt or of a run.
struct MachineUsage {
  std::optional<Duration> cpu_usage{};
  std::optional<Duration> cpu_idle{};
  std::optional<SystemSample::Cpu> cpu{};  // the same by what it was spent on
  std::optional<Bytes> memory_total{};
  std::optional<Bytes> memory_available_min{};
  struct Stall {
    std::optional<Duration> some{}, full{};
  };
  Stall cpu_stall{}, memory_stall{}, io_stall{};
};

}  // namespace plimsoll::counters

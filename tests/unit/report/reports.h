#pragma once

#include <chrono>

#include "report/report.h"

// Reports for tests: one with everything that a host can tell, one with nothing.
namespace plimsoll::report::testing {

using namespace std::chrono_literals;
using namespace plimsoll::literals;

inline WallTime wall_at(std::chrono::nanoseconds since_epoch) { return WallTime(since_epoch); }

inline counters::Pressure pressure(Duration some, Duration full) {
  return {.some = counters::PressureLine{.avg10 = 1.5, .avg60 = 0.25, .avg300 = 0, .total = some},
          .full = counters::PressureLine{.avg10 = 0, .avg60 = 0, .avg300 = 0, .total = full}};
}

inline counters::MemoryStat full_stat() {
  counters::MemoryStat stat;
  stat.anon = 1_MiB;
  stat.file = 2_MiB;
  stat.kernel = Bytes{3};
  stat.kernel_stack = Bytes{4};
  stat.page_tables = Bytes{5};
  stat.sock = Bytes{6};
  stat.vmalloc = Bytes{7};
  stat.shmem = Bytes{8};
  stat.file_mapped = Bytes{9};
  stat.file_dirty = Bytes{10};
  stat.file_writeback = Bytes{11};
  stat.inactive_file = Bytes{12};
  stat.slab = Bytes{13};
  stat.slab_reclaimable = Bytes{14};
  stat.pgscan = 15;
  stat.pgsteal = 16;
  stat.pgfault = 17;
  stat.pgmajfault = 18;
  return stat;
}

inline counters::Sample full_sample() {
  counters::Sample sample;
  sample.t = 2s;
  sample.wall = wall_at(1'700'000'002s);
  sample.state = counters::SampleState::paused;
  sample.cpu = {.usage = 3s,
                .user = 2s,
                .system = 1s,
                .nr_periods = 40,
                .nr_throttled = 4,
                .throttled = 50ms,
                .pressure = pressure(30ms, 0ms)};
  sample.memory.current = 600_MiB;
  sample.memory.used = 500_MiB;
  sample.memory.peak = 1_GiB;
  sample.memory.swap_current = 1_MiB;
  sample.memory.swap_peak = 2_MiB;
  sample.memory.max = 2_GiB;
  sample.memory.events = {
      .low = 0, .high = 1, .max = 2, .oom = 3, .oom_kill = 4, .oom_group_kill = 5};
  sample.memory.stat = full_stat();
  sample.memory.pressure = pressure(20ms, 10ms);
  sample.io = {.read = 1_KiB,
               .written = 2_KiB,
               .discarded = Bytes{3},
               .read_ops = 4,
               .write_ops = 5,
               .discard_ops = 6,
               .pressure = pressure(2s, 1s)};
  sample.pids = {.current = 7, .peak = 8, .events_max = 9};
  sample.network =
      counters::NetworkUsage{.rx = Bytes{100}, .tx = Bytes{200}, .rx_packets = 3, .tx_packets = 4};
  sample.frozen = 250ms;
  return sample;
}

// A skipped job on a host that tells nothing.
inline JobReport bare_report() {
  JobReport report;
  report.id = "7";
  report.command = std::string("make all");
  report.outcome = policy::Outcome::skipped;
  report.reason = "not started: the run was interrupted";
  report.times.queued = wall_at(1'700'000'000s);
  return report;
}

inline JobReport full_report() {
  JobReport report;
  report.id = "link";
  report.job_class = "ld";
  report.command = std::vector<std::string>{"ld", "-o", "a b"};
  report.cwd = "/src";
  report.output = {.out = "/out/link/stdout", .err = "/src/err"};
  report.outcome = policy::Outcome::over_limit;
  report.signal = 9;
  report.reason = "reached its limit of 2 GiB";
  report.left_behind = {{.pid = 4711, .comm = "sccache"}};
  report.ipc_left = {
      {.kind = "shared_memory", .name = "32769", .size = 8_KiB, .fate = IpcFate::removed},
      {.kind = "semaphores", .name = "2", .fate = IpcFate::left}};
  report.oom = policy::OomVerdict{.level = policy::OomLevel::own,
                                  .group = {},
                                  .limit = 2_GiB,
                                  .peak = Bytes{2147479552},
                                  .kills = 3};
  report.attempts = {
      {.outcome = policy::Outcome::evicted,
       .started = wall_at(1'700'000'000s),
       .wall = 5s,
       .cpu_usage = 4s,
       .peak = 1_GiB,
       .oom =
           policy::OomVerdict{.level = policy::OomLevel::pool, .group = "/run/pool", .kills = 1}},
      {.outcome = policy::Outcome::over_limit, .started = wall_at(1'700'000'010s)}};
  report.times = {.queued = wall_at(1'700'000'000s),
                  .started = wall_at(1'700'000'010s),
                  .ended = wall_at(1'700'000'014s),
                  .wall = 4s,
                  .held = 6s,
                  .paused = 1500ms};
  counters::JobUsage usage;
  usage.totals = full_sample();
  usage.stat_at_peak = full_stat();
  usage.left = 24_MiB;
  usage.samples = {full_sample()};
  usage.unavailable = {{"network", "no CAP_BPF"}, {"io.pressure", "PSI is off"}};
  report.usage = usage;
  report.rusage = RusageReport{.maxrss = 900_MiB,
                               .minor_faults = 1,
                               .major_faults = 2,
                               .voluntary_switches = 3,
                               .involuntary_switches = 4,
                               .in_blocks = 5,
                               .out_blocks = 6};
  report.machine = counters::MachineUsage{
      .cpu_usage = 7s,
      .cpu_idle = 1s,
      .cpu = counters::SystemSample::Cpu{.user = 5s, .idle = 1s, .guest_nice = 7ms},
      .memory_total = 8_GiB,
      .memory_available_min = 1_GiB,
      .cpu_stall = {.some = 1s, .full = {}},
      .memory_stall = {.some = 2s, .full = 1s},
      .io_stall = {}};
  report.host = HostInfo{.hostname = "node",
                         .kernel = "6.12.0",
                         .cpus = 8,
                         .memory = 8_GiB,
                         .hierarchy = HostHierarchy::hybrid};
  report.unavailable = {{"network", "no veth"}};
  return report;
}

}  // namespace plimsoll::report::testing

#include "store/runs/recorded_usage.h"

#include <string>

#include "report/json_read.h"
#include "report/usage_keys.h"

namespace plimsoll::report {
namespace {

WallTime wall_at(const Json& object, const char* key) {
  return WallTime(duration_at(object, key).value_or(Duration{}));
}

// `which` is "some" or "full".
std::optional<counters::PressureLine> read_pressure_line(const Json& json,
                                                         const std::string& which) {
  const auto total = duration_at(json, (which + "_ns").c_str());
  if (!total) return std::nullopt;
  return counters::PressureLine{.avg10 = number_at(json, (which + "_avg10_percent").c_str()),
                                .avg60 = number_at(json, (which + "_avg60_percent").c_str()),
                                .avg300 = number_at(json, (which + "_avg300_percent").c_str()),
                                .total = *total};
}

std::optional<counters::Pressure> read_pressure(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  return counters::Pressure{.some = read_pressure_line(json, "some"),
                            .full = read_pressure_line(json, "full")};
}

counters::MemoryEvents read_events(const Json& json) {
  counters::MemoryEvents events;
  for (const EventKey& row : kEventKeys) events.*row.member = count_at(json, row.key);
  return events;
}

counters::MemoryStat read_stat(const Json& json) {
  counters::MemoryStat stat;
  for (const StatSizeKey& row : kStatSizeKeys) stat.*row.member = bytes_at(json, row.key);
  for (const StatCountKey& row : kStatCountKeys) stat.*row.member = count_at(json, row.key);
  return stat;
}

std::optional<counters::NetworkUsage> read_network(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  return counters::NetworkUsage{.rx = bytes_at(json, "rx_bytes").value_or(Bytes{}),
                                .tx = bytes_at(json, "tx_bytes").value_or(Bytes{}),
                                .rx_packets = count_at(json, "rx_packets").value_or(0),
                                .tx_packets = count_at(json, "tx_packets").value_or(0)};
}

// Of a sample the keys have a prefix; in a report they are an object of their own.
counters::CpuUsage read_cpu(const Json& json, const std::string& prefix) {
  counters::CpuUsage cpu;
  cpu.usage = duration_at(json, (prefix + "usage_ns").c_str());
  cpu.user = duration_at(json, (prefix + "user_ns").c_str());
  cpu.system = duration_at(json, (prefix + "system_ns").c_str());
  cpu.nr_periods = count_at(json, (prefix + "nr_periods").c_str());
  cpu.nr_throttled = count_at(json, (prefix + "nr_throttled").c_str());
  cpu.throttled = duration_at(json, (prefix + "throttled_ns").c_str());
  return cpu;
}

counters::IoUsage read_io(const Json& json, const std::string& prefix) {
  counters::IoUsage io;
  io.read = bytes_at(json, (prefix + "read_bytes").c_str());
  io.written = bytes_at(json, (prefix + "write_bytes").c_str());
  io.discarded = bytes_at(json, (prefix + "discard_bytes").c_str());
  io.read_ops = count_at(json, (prefix + "read_ops").c_str());
  io.write_ops = count_at(json, (prefix + "write_ops").c_str());
  io.discard_ops = count_at(json, (prefix + "discard_ops").c_str());
  return io;
}

}  // namespace

counters::Sample read_sample(const Json& json) {
  counters::Sample sample;
  sample.t = duration_at(json, "t_ns").value_or(Duration{});
  sample.wall = wall_at(json, "unix_ns");
  if (text_at(json, "state") == "paused") sample.state = counters::SampleState::paused;
  sample.frozen = duration_at(json, "frozen_ns");
  sample.cpu = read_cpu(json, "cpu_");
  sample.memory.current = bytes_at(json, "memory_bytes");
  sample.memory.used = bytes_at(json, "used_bytes");
  sample.memory.peak = bytes_at(json, "memory_peak_bytes");
  sample.memory.swap_current = bytes_at(json, "swap_bytes");
  sample.memory.events = read_events(member(json, "events"));
  sample.memory.stat = read_stat(member(json, "stat"));
  sample.io = read_io(json, "io_");
  sample.pids.current = count_at(json, "pids");
  sample.network = read_network(member(json, "network"));
  const Json& pressure = member(json, "pressure");
  sample.cpu.pressure = read_pressure(member(pressure, "cpu"));
  sample.memory.pressure = read_pressure(member(pressure, "memory"));
  sample.io.pressure = read_pressure(member(pressure, "io"));
  return sample;
}

counters::Sample read_totals(const Json& report) {
  counters::Sample sample;
  const Json& times = member(report, "times");
  sample.t = duration_at(times, "wall_ns").value_or(Duration{});
  sample.wall = wall_at(times, "ended_unix_ns");
  const Json& cpu = member(report, "cpu");
  sample.cpu = read_cpu(cpu, "");
  sample.cpu.pressure = read_pressure(member(cpu, "pressure"));
  const Json& memory = member(report, "memory");
  sample.memory.peak = bytes_at(memory, "peak_bytes");
  sample.memory.events = read_events(member(memory, "events"));
  sample.memory.pressure = read_pressure(member(memory, "pressure"));
  const Json& io = member(report, "io");
  sample.io = read_io(io, "");
  sample.io.pressure = read_pressure(member(io, "pressure"));
  sample.network = read_network(member(report, "network"));
  return sample;
}

std::optional<counters::SystemSample::Cpu> read_cpu_times(const Json& json) {
  counters::SystemSample::Cpu cpu;
  for (const CpuTimeKey& row : kCpuTimeKeys) {
    const auto time = duration_at(json, row.key);
    if (!time) return std::nullopt;
    cpu.*row.member = *time;
  }
  return cpu;
}

counters::SystemSample read_system_sample(const Json& json) {
  counters::SystemSample sample;
  sample.at = Instant(duration_at(json, "t_ns").value_or(Duration{}));
  sample.wall = wall_at(json, "unix_ns");
  sample.cpu = read_cpu_times(member(json, "cpu"));
  sample.context_switches = count_at(json, "context_switches");
  sample.processes_created = count_at(json, "processes_created");
  sample.processes_running = count_at(json, "processes_running");
  sample.processes_blocked = count_at(json, "processes_blocked");
  const Json& memory = member(json, "memory");
  for (const MeminfoKey& row : kMeminfoKeys) {
    if (const auto size = bytes_at(memory, row.key)) sample.meminfo[row.kernel_name] = *size;
  }
  const Json& pressure = member(json, "pressure");
  sample.cpu_pressure = read_pressure(member(pressure, "cpu"));
  sample.memory_pressure = read_pressure(member(pressure, "memory"));
  sample.io_pressure = read_pressure(member(pressure, "io"));
  return sample;
}

}  // namespace plimsoll::report

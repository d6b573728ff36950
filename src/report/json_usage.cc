#include "report/json_usage.h"

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "report/json_put.h"
#include "report/usage_keys.h"

namespace plimsoll::report {
namespace {

using counters::MachineUsage;
using counters::MemoryEvents;
using counters::MemoryStat;
using counters::NetworkUsage;
using counters::Pressure;
using counters::PressureLine;
using counters::Sample;

std::optional<Duration> total_of(const std::optional<PressureLine>& line) {
  return line ? std::optional(line->total) : std::nullopt;
}

MachineUsage::Stall stall_of(const std::optional<Pressure>& pressure) {
  if (!pressure) return {};
  return {.some = total_of(pressure->some), .full = total_of(pressure->full)};
}

Json stall_json(const MachineUsage::Stall& stall) {
  Json json = Json::object();
  put(json, "some_ns", stall.some);
  put(json, "full_ns", stall.full);
  return json;
}

void put_percent(Json& object, const char* key, std::optional<double> percent) {
  if (percent) object[key] = *percent;
}

Json pressure_json(const std::optional<Pressure>& pressure) {
  Json json = stall_json(stall_of(pressure));
  if (!pressure) return json;
  if (pressure->some) {
    put_percent(json, "some_avg10_percent", pressure->some->avg10);
    put_percent(json, "some_avg60_percent", pressure->some->avg60);
    put_percent(json, "some_avg300_percent", pressure->some->avg300);
  }
  if (pressure->full) {
    put_percent(json, "full_avg10_percent", pressure->full->avg10);
    put_percent(json, "full_avg60_percent", pressure->full->avg60);
    put_percent(json, "full_avg300_percent", pressure->full->avg300);
  }
  return json;
}

Json pressures_json(const std::optional<Pressure>& cpu, const std::optional<Pressure>& memory,
                    const std::optional<Pressure>& io) {
  Json json = Json::object();
  put_part(json, "cpu", pressure_json(cpu));
  put_part(json, "memory", pressure_json(memory));
  put_part(json, "io", pressure_json(io));
  return json;
}

Json events_json(const MemoryEvents& events) {
  Json json = Json::object();
  for (const EventKey& row : kEventKeys) put(json, row.key, events.*row.member);
  return json;
}

Json stat_json(const MemoryStat& stat) {
  Json json = Json::object();
  for (const StatSizeKey& row : kStatSizeKeys) put(json, row.key, stat.*row.member);
  for (const StatCountKey& row : kStatCountKeys) put(json, row.key, stat.*row.member);
  return json;
}

Json network_json(const std::optional<NetworkUsage>& network) {
  Json json = Json::object();
  if (!network) return json;
  json["rx_bytes"] = network->rx.count;
  json["tx_bytes"] = network->tx.count;
  json["rx_packets"] = network->rx_packets;
  json["tx_packets"] = network->tx_packets;
  return json;
}

Json cpu_json(const counters::CpuUsage& cpu) {
  Json json = Json::object();
  put(json, "usage_ns", cpu.usage);
  put(json, "user_ns", cpu.user);
  put(json, "system_ns", cpu.system);
  put(json, "nr_periods", cpu.nr_periods);
  put(json, "nr_throttled", cpu.nr_throttled);
  put(json, "throttled_ns", cpu.throttled);
  put_part(json, "pressure", stall_json(stall_of(cpu.pressure)));
  return json;
}

Json memory_json(const counters::JobUsage& usage) {
  const counters::MemoryUsage& memory = usage.totals.memory;
  Json json = Json::object();
  put(json, "peak_bytes", memory.peak);
  put(json, "sampled_peak_bytes", memory.sampled_peak);
  put(json, "swap_peak_bytes", memory.swap_peak);
  put(json, "max_bytes", memory.max);
  put(json, "left_bytes", usage.left);
  put_part(json, "events", events_json(memory.events));
  put_part(json, "stat", stat_json(usage.stat_at_peak));
  put_part(json, "pressure", stall_json(stall_of(memory.pressure)));
  return json;
}

Json io_json(const counters::IoUsage& io) {
  Json json = Json::object();
  put(json, "read_bytes", io.read);
  put(json, "write_bytes", io.written);
  put(json, "read_ops", io.read_ops);
  put(json, "write_ops", io.write_ops);
  put(json, "discard_bytes", io.discarded);
  put(json, "discard_ops", io.discard_ops);
  put_part(json, "pressure", stall_json(stall_of(io.pressure)));
  return json;
}

const char* name_of(counters::SampleState state) {
  return state == counters::SampleState::paused ? "paused" : "running";
}

Json sample_json(const Sample& sample) {
  Json json = Json::object();
  put(json, "t_ns", sample.t);
  put(json, "unix_ns", sample.wall);
  json["state"] = name_of(sample.state);
  put(json, "frozen_ns", sample.frozen);
  put(json, "cpu_usage_ns", sample.cpu.usage);
  put(json, "cpu_user_ns", sample.cpu.user);
  put(json, "cpu_system_ns", sample.cpu.system);
  put(json, "cpu_nr_periods", sample.cpu.nr_periods);
  put(json, "cpu_nr_throttled", sample.cpu.nr_throttled);
  put(json, "cpu_throttled_ns", sample.cpu.throttled);
  put(json, "memory_bytes", sample.memory.current);
  put(json, "used_bytes", sample.memory.used);
  put(json, "memory_peak_bytes", sample.memory.peak);
  put(json, "swap_bytes", sample.memory.swap_current);
  put(json, "io_read_bytes", sample.io.read);
  put(json, "io_write_bytes", sample.io.written);
  put(json, "io_discard_bytes", sample.io.discarded);
  put(json, "io_read_ops", sample.io.read_ops);
  put(json, "io_write_ops", sample.io.write_ops);
  put(json, "io_discard_ops", sample.io.discard_ops);
  put(json, "pids", sample.pids.current);
  put_part(json, "events", events_json(sample.memory.events));
  put_part(json, "stat", stat_json(sample.memory.stat));
  put_part(json, "network", network_json(sample.network));
  put_part(json, "pressure",
           pressures_json(sample.cpu.pressure, sample.memory.pressure, sample.io.pressure));
  return json;
}

Json meminfo_json(const decltype(counters::SystemSample::meminfo)& meminfo) {
  Json json = Json::object();
  for (const MeminfoKey& row : kMeminfoKeys) {
    if (const auto found = meminfo.find(row.kernel_name); found != meminfo.end()) {
      json[row.key] = found->second.count;
    }
  }
  return json;
}

Json system_cpu_json(const std::optional<counters::SystemSample::Cpu>& cpu) {
  Json json = Json::object();
  if (!cpu) return json;
  for (const CpuTimeKey& row : kCpuTimeKeys) put(json, row.key, (*cpu).*row.member);
  return json;
}

}  // namespace

void put_usage(Json& report, const counters::JobUsage& usage) {
  const Sample& totals = usage.totals;
  put_part(report, "cpu", cpu_json(totals.cpu));
  put_part(report, "memory", memory_json(usage));
  put_part(report, "io", io_json(totals.io));
  Json pids = Json::object();
  put(pids, "peak", totals.pids.peak);
  put(pids, "events_max", totals.pids.events_max);
  put_part(report, "pids", std::move(pids));
  put_part(report, "network", network_json(totals.network));
  Json samples = Json::array();
  for (const Sample& sample : usage.samples) samples.push_back(sample_json(sample));
  put_part(report, "samples", std::move(samples));
}

Json machine_json(const MachineUsage& machine) {
  Json json = Json::object();
  put(json, "cpu_usage_ns", machine.cpu_usage);
  put(json, "cpu_idle_ns", machine.cpu_idle);
  put_part(json, "cpu", system_cpu_json(machine.cpu));
  put(json, "memory_total_bytes", machine.memory_total);
  put(json, "memory_available_min_bytes", machine.memory_available_min);
  Json pressure = Json::object();
  put_part(pressure, "cpu", stall_json(machine.cpu_stall));
  put_part(pressure, "memory", stall_json(machine.memory_stall));
  put_part(pressure, "io", stall_json(machine.io_stall));
  put_part(json, "pressure", std::move(pressure));
  return json;
}

Json system_sample_json(const counters::SystemSample& sample, Instant run_started) {
  Json json = Json::object();
  put(json, "t_ns", sample.at - run_started);
  put(json, "unix_ns", sample.wall);
  put_part(json, "cpu", system_cpu_json(sample.cpu));
  put(json, "context_switches", sample.context_switches);
  put(json, "processes_created", sample.processes_created);
  put(json, "processes_running", sample.processes_running);
  put(json, "processes_blocked", sample.processes_blocked);
  put_part(json, "memory", meminfo_json(sample.meminfo));
  put_part(json, "pressure",
           pressures_json(sample.cpu_pressure, sample.memory_pressure, sample.io_pressure));
  return json;
}

}  // namespace plimsoll::report

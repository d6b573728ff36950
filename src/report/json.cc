#include "report/json.h"

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "kernel/counters/usage.h"
#include "policy/job/attempt.h"
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

// What was measured; what was not is left out.

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

// `cpu`, `memory`, `io`, `pids`, `network` and `samples` of an attempt.
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

// `run_started` is what `t_ns` counts from.
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

void put_command(Json& object, const policy::Command& command) {
  if (const auto* shell = std::get_if<std::string>(&command)) {
    object["shell"] = *shell;
  } else {
    object["argv"] = std::get<Words>(command).all();
  }
}

Json oom_json(const policy::OomVerdict& oom) {
  Json json = Json::object();
  json["level"] = policy::name_of(oom.level);
  put_text(json, "group", oom.group);
  put(json, "limit_bytes", oom.limit);
  put(json, "peak_bytes", oom.peak);
  json["kills"] = oom.kills;
  return json;
}

Json attempt_json(const AttemptReport& attempt) {
  Json json = Json::object();
  json["outcome"] = policy::name_of(attempt.outcome);
  put(json, "started_unix_ns", attempt.started);
  put(json, "wall_ns", attempt.wall);
  put(json, "cpu_usage_ns", attempt.cpu_usage);
  put(json, "peak_bytes", attempt.peak);
  if (attempt.oom) json["oom"] = oom_json(*attempt.oom);
  return json;
}

// A job that never started left nothing behind, and says nothing of it; of any other an empty list
// is a fact.
void put_attempts(Json& object, const JobReport& report) {
  Json left_behind = Json::array();
  for (const LeftBehind& left : report.left_behind) {
    Json one{{"pid", left.pid}, {"comm", left.comm}};
    if (left.fate == LeftFate::had_left) one["had_left_group"] = true;
    if (left.fate == LeftFate::lives) one["lives"] = true;
    left_behind.push_back(std::move(one));
  }
  if (!report.attempts.empty()) object["left_behind"] = std::move(left_behind);
  Json ipc_left = Json::array();
  for (const IpcLeft& left : report.ipc_left) {
    Json one{{"kind", left.kind}, {"name", left.name}, {"removed", left.fate == IpcFate::removed}};
    put(one, "size_bytes", left.size);
    ipc_left.push_back(std::move(one));
  }
  if (!ipc_left.empty()) object["ipc_left"] = std::move(ipc_left);
  put_text(object, "reason", report.reason);
  Json attempts = Json::array();
  for (const AttemptReport& attempt : report.attempts) attempts.push_back(attempt_json(attempt));
  object["attempts"] = std::move(attempts);
}

Json times_json(const JobTimes& times) {
  Json json = Json::object();
  put(json, "queued_unix_ns", times.queued);
  put(json, "started_unix_ns", times.started);
  put(json, "ended_unix_ns", times.ended);
  put(json, "wall_ns", times.wall);
  put(json, "held_ns", times.held);
  put(json, "paused_ns", times.paused);
  return json;
}

Json rusage_json(const RusageReport& rusage) {
  Json json = Json::object();
  json["maxrss_bytes"] = rusage.maxrss.count;
  json["minor_faults"] = rusage.minor_faults;
  json["major_faults"] = rusage.major_faults;
  json["voluntary_switches"] = rusage.voluntary_switches;
  json["involuntary_switches"] = rusage.involuntary_switches;
  json["in_blocks"] = rusage.in_blocks;
  json["out_blocks"] = rusage.out_blocks;
  return json;
}

Json host_json(const HostInfo& host) {
  Json json = Json::object();
  json["hostname"] = host.hostname;
  json["kernel"] = host.kernel;
  json["cpus"] = host.cpus;
  json["memory_bytes"] = host.memory.count;
  json["hierarchy"] = name_of(host.hierarchy);
  return json;
}

Json unavailable_json(const counters::Unavailable& unavailable) {
  Json json = Json::object();
  for (const auto& [key, why] : unavailable) json[key] = why;
  return json;
}

Json output_json(const OutputPaths& output) {
  Json json = Json::object();
  put_text(json, "stdout", output.out);
  put_text(json, "stderr", output.err);
  return json;
}

Json job_json(const JobReport& report) {
  Json json = Json::object();
  json["schema"] = "plimsoll.job/1";
  json["id"] = report.id;
  put_text(json, "class", report.job_class);
  put_command(json, report.command);
  if (report.argv_words) json["argv_words"] = *report.argv_words;
  put_text(json, "cwd", report.cwd);
  put_part(json, "output", output_json(report.output));
  if (!report.needs.empty()) json["needs"] = report.needs;
  if (report.priority != 0) json["priority"] = report.priority;
  json["outcome"] = policy::name_of(report.outcome);
  if (report.exit_code) json["exit_code"] = *report.exit_code;
  if (report.signal) json["signal"] = policy::signal_name(*report.signal);
  put_attempts(json, report);
  if (report.oom) json["oom"] = oom_json(*report.oom);
  json["times"] = times_json(report.times);
  counters::Unavailable unavailable = report.unavailable;
  if (report.usage) {
    put_usage(json, *report.usage);
    unavailable.insert(report.usage->unavailable.begin(), report.usage->unavailable.end());
  }
  if (report.rusage) json["rusage"] = rusage_json(*report.rusage);
  if (report.machine) put_part(json, "machine", machine_json(*report.machine));
  if (report.host) json["host"] = host_json(*report.host);
  put_part(json, "unavailable", unavailable_json(unavailable));
  return json;
}

Json monitor_json(const MonitorReport& monitor) {
  return Json{{"name", monitor.name}, {"why", monitor.why}, {"health", monitor.health}};
}

Json wall_json(const PoolLimitsReport& wall) {
  Json json = Json::object();
  put(json, "high_bytes", wall.high);
  put(json, "max_bytes", wall.max);
  json["stalls"] = wall.stalls;
  json["stalled_ns"] = wall.stalled.count();
  Json pressure = Json::object();
  put(pressure, "some_ns", wall.pressure.some);
  put(pressure, "full_ns", wall.pressure.full);
  put_part(json, "pressure", std::move(pressure));
  return json;
}

Json calibration_json(const policy::Calibration& calibration) {
  return Json{{"attempts", calibration.attempts()},
              {"above_estimate", calibration.above_mean()},
              {"far_above", calibration.far_above()},
              {"reserve_wasted", calibration.wasted()}};
}

Json command_json(const CommandReport& command) {
  Json json = Json::object();
  json["outcome"] = policy::name_of(command.outcome);
  if (command.exit_code) json["exit_code"] = *command.exit_code;
  if (command.signal) json["signal"] = policy::signal_name(*command.signal);
  if (!command.reason.empty()) put_text(json, "reason", command.reason);
  if (!command.why_whole.empty()) put_text(json, "why_whole", command.why_whole);
  if (!command.why_watched.empty()) put_text(json, "why_watched", command.why_watched);
  json["small_steps"] = command.small_steps;
  json["held_steps"] = command.held_steps;
  json["killed_steps"] = command.killed_steps;
  json["steps_again"] = command.steps_again;
  json["reruns"] = command.reruns;
  json["tokens_recovered"] = command.tokens_recovered;
  return json;
}

Json run_json(const RunSummary& summary) {
  Json json = Json::object();
  json["schema"] = "plimsoll.run/1";
  json["run"] = summary.run;
  put(json, "makespan_ns", summary.makespan);
  json["jobs"] = summary.jobs;
  json["outcomes"] = Json::object();
  for (const auto& [outcome, count] : summary.outcomes) {
    json["outcomes"][std::string(policy::name_of(outcome))] = count;
  }
  json["succeeded"] = summary.succeeded;
  if (summary.command) json["command"] = command_json(*summary.command);
  if (summary.job_commands > 0) json["job_commands"] = summary.job_commands;
  json["holds"] = summary.holds;
  json["pauses"] = summary.pauses;
  json["evictions"] = summary.evictions;
  put(json, "lost_cpu_ns", summary.lost_cpu);
  put(json, "line_bytes", summary.line);
  put(json, "used_peak_bytes", summary.used_peak);
  if (summary.wall) json["wall"] = wall_json(*summary.wall);
  if (summary.calibration.attempts() > 0) {
    json["calibration"] = calibration_json(summary.calibration);
  }
  json["monitors"] = Json::array();
  for (const MonitorReport& monitor : summary.monitors) {
    json["monitors"].push_back(monitor_json(monitor));
  }
  put(json, "oom_kills", summary.oom_kills);
  put(json, "cpu_usage_ns", summary.cpu_usage);
  if (summary.cores_of_others) json["cores_of_others"] = *summary.cores_of_others;
  if (summary.cores_of_machine) json["cores_of_machine"] = *summary.cores_of_machine;
  if (summary.machine) put_part(json, "machine", machine_json(*summary.machine));
  Json samples = Json::array();
  for (const auto& sample : summary.system_samples) {
    samples.push_back(system_sample_json(sample, summary.started));
  }
  put_part(json, "system_samples", std::move(samples));
  put_part(json, "unavailable", unavailable_json(summary.unavailable));
  return json;
}

}  // namespace

std::string to_json(const JobReport& report, JsonForm form) {
  return text_of(job_json(report), form);
}

std::string to_json(const RunSummary& summary, JsonForm form) {
  return text_of(run_json(summary), form);
}

}  // namespace plimsoll::report

#include "report/json.h"

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "policy/job/attempt.h"
#include "report/json_put.h"
#include "report/json_usage.h"

namespace plimsoll::report {
namespace {

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
  put(json, "maxrss_bytes", rusage.maxrss);
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

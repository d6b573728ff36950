#include "store/runs/recorded_report.h"

#include <signal.h>

#include "policy/job/attempt.h"
#include "report/json_read.h"
#include "store/runs/recorded_usage.h"

namespace plimsoll::report {
namespace {

std::optional<policy::Outcome> outcome_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(policy::Outcome::skipped); ++i) {
    const auto outcome = static_cast<policy::Outcome>(i);
    if (policy::name_of(outcome) == name) return outcome;
  }
  return std::nullopt;
}

std::optional<int> signal_named(std::string_view name) {
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    if (policy::signal_name(signal) == name) return signal;
  }
  return std::nullopt;
}

counters::Unavailable read_unavailable(const Json& json) {
  counters::Unavailable unavailable;
  if (!json.is_object()) return unavailable;
  for (const auto& [key, why] : json.items()) {
    if (why.is_string()) unavailable[key] = why.get<std::string>();
  }
  return unavailable;
}

counters::JobUsage read_usage(const Json& report) {
  counters::JobUsage usage;
  usage.totals = read_totals(report);
  const Json& memory = member(report, "memory");
  usage.totals.memory.sampled_peak = bytes_at(memory, "sampled_peak_bytes");
  usage.totals.memory.swap_peak = bytes_at(memory, "swap_peak_bytes");
  usage.totals.memory.max = bytes_at(memory, "max_bytes");
  usage.totals.pids.peak = count_at(member(report, "pids"), "peak");
  return usage;
}

std::vector<LeftBehind> read_left_behind(const Json& json) {
  std::vector<LeftBehind> all;
  for (const Json& one : json.is_array() ? json : Json::array()) {
    const auto is = [&one](const char* name) { return member(one, name) == true; };
    const auto left = is("had_left_group") ? LeftFate::had_left : LeftFate::killed;
    all.push_back({.pid = static_cast<std::int64_t>(count_at(one, "pid").value_or(0)),
                   .comm = text_at(one, "comm"),
                   .fate = is("lives") ? LeftFate::lives : left});
  }
  return all;
}

std::vector<AttemptReport> read_attempts(const Json& json) {
  std::vector<AttemptReport> attempts;
  for (const Json& one : json.is_array() ? json : Json::array()) {
    if (const auto outcome = outcome_named(text_at(one, "outcome"))) {
      attempts.push_back({.outcome = *outcome});
    }
  }
  return attempts;
}

std::optional<CommandReport> read_command(const Json& json) {
  const auto outcome = outcome_named(text_at(json, "outcome"));
  if (!outcome) return std::nullopt;
  CommandReport command{.outcome = *outcome,
                        .signal = signal_named(text_at(json, "signal")),
                        .reason = text_at(json, "reason"),
                        .small_steps = count_at(json, "small_steps").value_or(0),
                        .held_steps = count_at(json, "held_steps").value_or(0),
                        .killed_steps = count_at(json, "killed_steps").value_or(0),
                        .steps_again = count_at(json, "steps_again").value_or(0),
                        .reruns = count_at(json, "reruns").value_or(0),
                        .tokens_recovered = count_at(json, "tokens_recovered").value_or(0),
                        .why_whole = text_at(json, "why_whole"),
                        .why_watched = text_at(json, "why_watched")};
  if (const Json& code = member(json, "exit_code"); code.is_number_integer()) {
    command.exit_code = code.get<int>();
  }
  return command;
}

}  // namespace

std::optional<JobReport> parse_job_report(std::string_view text) {
  const auto json = parse_document(text, "plimsoll.job/1");
  if (!json) return std::nullopt;
  const auto outcome = outcome_named(text_at(*json, "outcome"));
  if (!outcome) return std::nullopt;
  JobReport report;
  report.id = text_at(*json, "id");
  report.job_class = text_at(*json, "class");
  report.command = command_at(*json);
  report.outcome = *outcome;
  if (const Json& code = member(*json, "exit_code"); code.is_number_integer()) {
    report.exit_code = code.get<int>();
  }
  report.signal = signal_named(text_at(*json, "signal"));
  report.reason = text_at(*json, "reason");
  report.left_behind = read_left_behind(member(*json, "left_behind"));
  report.attempts = read_attempts(member(*json, "attempts"));
  const Json& times = member(*json, "times");
  report.times.wall = duration_at(times, "wall_ns");
  report.times.held = duration_at(times, "held_ns");
  report.times.paused = duration_at(times, "paused_ns");
  const bool measured = member(*json, "cpu").is_object() || member(*json, "memory").is_object();
  if (measured) report.usage = read_usage(*json);
  if (const auto maxrss = bytes_at(member(*json, "rusage"), "maxrss_bytes")) {
    report.rusage = RusageReport{.maxrss = *maxrss};
  }
  report.unavailable = read_unavailable(member(*json, "unavailable"));
  return report;
}

std::optional<RunSummary> parse_run_summary(std::string_view text) {
  const auto json = parse_document(text, "plimsoll.run/1");
  if (!json) return std::nullopt;
  RunSummary summary;
  summary.run = text_at(*json, "run");
  summary.makespan = duration_at(*json, "makespan_ns");
  summary.jobs = count_at(*json, "jobs").value_or(0);
  if (const Json& outcomes = member(*json, "outcomes"); outcomes.is_object()) {
    for (const auto& [name, count] : outcomes.items()) {
      const auto outcome = outcome_named(name);
      if (outcome && count.is_number_unsigned()) {
        summary.outcomes[*outcome] = count.get<std::uint64_t>();
      }
    }
  }
  summary.command = read_command(member(*json, "command"));
  summary.job_commands = count_at(*json, "job_commands").value_or(0);
  summary.holds = count_at(*json, "holds").value_or(0);
  summary.pauses = count_at(*json, "pauses").value_or(0);
  summary.evictions = count_at(*json, "evictions").value_or(0);
  summary.lost_cpu = duration_at(*json, "lost_cpu_ns");
  summary.line = bytes_at(*json, "line_bytes");
  summary.used_peak = bytes_at(*json, "used_peak_bytes");
  summary.oom_kills = count_at(*json, "oom_kills");
  summary.cpu_usage = duration_at(*json, "cpu_usage_ns");
  summary.cores_of_others = number_at(*json, "cores_of_others");
  summary.cores_of_machine = number_at(*json, "cores_of_machine");
  summary.unavailable = read_unavailable(member(*json, "unavailable"));
  return summary;
}

}  // namespace plimsoll::report

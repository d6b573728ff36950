#include "page/record.h"

#include <fcntl.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "analysis/job_row.h"
#include "base/file.h"
#include "base/text.h"
#include "policy/job/job.h"
#include "report/json_read.h"
#include "store/runs/recorded_job.h"

namespace plimsoll::page {
namespace {

using policy::EventKind;
using report::Json;
using report::member;

// What the events tell of one job.
struct Traces {
  std::optional<std::uint64_t> number{};
  std::vector<Duration> starts{};  // of its attempts
};

std::map<std::string, Traces> traces_of(const std::vector<report::RecordedEvent>& events) {
  std::map<std::string, Traces> all;
  for (const report::RecordedEvent& event : events) {
    if (event.job.empty()) continue;
    Traces& traces = all[event.job];
    if (event.number) traces.number = event.number;
    if (event.kind == EventKind::started) traces.starts.push_back(event.t);
  }
  return all;
}

// Only what a curve is drawn of: a sample has some seventy figures.
std::vector<CurvePoint> read_curve(const Json& samples) {
  std::vector<CurvePoint> curve;
  if (!samples.is_array()) return curve;
  curve.reserve(samples.size());
  for (const Json& sample : samples) {
    const auto t = report::duration_at(sample, "t_ns");
    if (!t || (!curve.empty() && *t < curve.back().t)) continue;
    curve.push_back({.t = *t,
                     .used = report::bytes_at(sample, "used_bytes"),
                     .cpu = report::duration_at(sample, "cpu_usage_ns")});
  }
  return curve;
}

Attempt read_attempt(const Json& json) {
  return {.outcome = report::text_at(json, "outcome"),
          .wall = report::duration_at(json, "wall_ns"),
          .cpu = report::duration_at(json, "cpu_usage_ns"),
          .peak = report::bytes_at(json, "peak_bytes")};
}

// The events tell the start by the clock that does not step; the report may have more attempts than
// the events, of which some may be missing.
std::vector<Attempt> read_attempts(const Json& list, const Traces& traces, WallTime begun) {
  std::vector<Attempt> attempts;
  for (const Json& json : list.is_array() ? list : Json::array()) {
    Attempt attempt = read_attempt(json);
    if (attempts.size() < traces.starts.size()) {
      attempt.start = traces.starts[attempts.size()];
    } else if (const auto at = report::duration_at(json, "started_unix_ns")) {
      attempt.start = std::max(WallTime(*at) - begun, Duration{});
    }
    attempts.push_back(std::move(attempt));
  }
  return attempts;
}

Job read_job(const Json& report, const Traces& traces, WallTime begun) {
  Job job;
  job.id = report::text_at(report, "id");
  job.number = traces.number;
  const policy::Command command = report::command_at(report);
  job.job_class = analysis::class_of(report::text_at(report, "class"), command);
  job.command = policy::command_line(command);
  const Json& output = member(report, "output");
  job.out = report::text_at(output, "stdout");
  job.err = report::text_at(output, "stderr");
  job.outcome = report::text_at(report, "outcome");
  if (const Json& code = member(report, "exit_code"); code.is_number_integer()) {
    job.exit_code = code.get<std::int64_t>();
  }
  job.signal = report::text_at(report, "signal");
  job.reason = report::text_at(report, "reason");
  const Json& times = member(report, "times");
  job.held = report::duration_at(times, "held_ns");
  job.paused = report::duration_at(times, "paused_ns");
  job.limit = report::bytes_at(member(report, "memory"), "max_bytes");
  job.attempts = read_attempts(member(report, "attempts"), traces, begun);
  job.curve = read_curve(member(report, "samples"));
  return job;
}

std::optional<Host> read_host(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  return Host{.name = report::text_at(json, "hostname"),
              .kernel = report::text_at(json, "kernel"),
              .hierarchy = report::text_at(json, "hierarchy"),
              .cpus = report::count_at(json, "cpus"),
              .memory = report::bytes_at(json, "memory_bytes")};
}

// A job without a report: it waits or runs, or its Plimsoll died.
Job unfinished(const std::string& id, const Traces& traces) {
  Job job{.id = id, .number = traces.number};
  for (const Duration start : traces.starts) job.attempts.push_back({.start = start});
  return job;
}

std::optional<Duration> stall_of(const std::optional<counters::Pressure>& pressure) {
  if (!pressure || !pressure->some) return std::nullopt;
  return pressure->some->total;
}

SystemPoint point_of(const counters::SystemSample& sample) {
  SystemPoint point{.t = sample.at.time_since_epoch(),
                    .cpu_stall = stall_of(sample.cpu_pressure),
                    .memory_stall = stall_of(sample.memory_pressure),
                    .io_stall = stall_of(sample.io_pressure)};
  if (const auto& cpu = sample.cpu) {  // user and nice include guests
    point.busy = cpu->user + cpu->nice + cpu->system + cpu->irq + cpu->softirq + cpu->steal;
    point.idle = cpu->idle + cpu->iowait;
  }
  return point;
}

void read_summary(std::string_view text, Record& record) {
  for (const counters::SystemSample& sample : report::parse_system_samples(text)) {
    record.system.push_back(point_of(sample));
  }
  const auto summary = report::parse_document(text, "plimsoll.run/1");
  if (!summary) return;
  record.cores_of_others = report::number_at(*summary, "cores_of_others");
  record.cores_of_machine = report::number_at(*summary, "cores_of_machine");
  record.oom_kills = report::count_at(*summary, "oom_kills");
  record.cpu_usage = report::duration_at(*summary, "cpu_usage_ns");
}

// Jobs without a number come last, as they were.
std::vector<Job> in_order_of_input(std::vector<Job> jobs) {
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    order.emplace_back(jobs[i].number.value_or(std::numeric_limits<std::uint64_t>::max()), i);
  }
  std::ranges::sort(order);
  std::vector<Job> ordered;
  for (const auto& [number, index] : order) ordered.push_back(std::move(jobs[index]));
  return ordered;
}

}  // namespace

Record parse_record(report::RunEntry entry, std::vector<report::RecordedEvent> events,
                    std::string_view reports, std::string_view summary) {
  Record record{.entry = std::move(entry), .events = std::move(events)};
  std::map<std::string, Traces> traces = traces_of(record.events);
  const WallTime begun = record.entry.meta.started;
  while (!reports.empty()) {
    const auto report = report::parse_document(take_line(reports), "plimsoll.job/1");
    if (!report) continue;  // cut off
    const auto known = traces.extract(report::text_at(*report, "id"));
    record.jobs.push_back(read_job(*report, known.empty() ? Traces{} : known.mapped(), begun));
    if (!record.host) record.host = read_host(member(*report, "host"));
  }
  for (const auto& [id, traces_of_job] : traces) {
    record.jobs.push_back(unfinished(id, traces_of_job));
  }
  record.jobs = in_order_of_input(std::move(record.jobs));
  read_summary(summary, record);
  return record;
}

Result<Record> read_record(report::RunEntry entry, std::vector<report::RecordedEvent> events) {
  const std::string path = entry.path;
  auto reports = read_text_at(AT_FDCWD, path + "/jobs.jsonl");
  if (!reports && !reports.error().gone()) return pass(std::move(reports));
  // A run that goes on, or died, has none.
  const auto summary = read_text_at(AT_FDCWD, path + "/summary.json");
  return parse_record(std::move(entry), std::move(events), reports.value_or(""),
                      summary.value_or(""));
}

}  // namespace plimsoll::page

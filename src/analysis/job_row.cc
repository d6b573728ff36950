#include "analysis/job_row.h"

#include <algorithm>
#include <unordered_map>

#include "policy/estimator/signature.h"
#include "policy/job/job.h"
#include "report/json_read.h"

namespace plimsoll::analysis {
namespace {

constexpr std::int64_t kShellCannotExecute = 126, kShellNotFound = 127;

std::optional<Bytes> peak_of(const counters::JobUsage& usage) {
  std::optional<Bytes> most;
  for (const counters::Sample& sample : usage.samples) {
    if (sample.memory.used) most = std::max(most.value_or(Bytes{}), *sample.memory.used);
  }
  if (most && *most > Bytes{}) return most;
  const counters::MemoryUsage& memory = usage.totals.memory;
  return memory.peak ? memory.peak : memory.sampled_peak;
}

std::optional<WallTime> wall_time_at(const report::Json& object, const char* key) {
  const auto since_1970 = report::duration_at(object, key);
  return since_1970 ? std::optional(WallTime(*since_1970)) : std::nullopt;
}

// What a reader of samples has no use for.
void add_times(JobRow& row, const report::Json& times) {
  row.queued = wall_time_at(times, "queued_unix_ns");
  row.started = wall_time_at(times, "started_unix_ns");
  row.ended = wall_time_at(times, "ended_unix_ns");
  row.held = report::duration_at(times, "held_ns");
  row.paused = report::duration_at(times, "paused_ns");
  const Duration paused = row.paused.value_or(Duration{});
  // Of several attempts nobody says which one was paused.
  if (row.wall && (row.attempts == 1 || paused == Duration{})) {
    row.ran = std::max(*row.wall - paused, Duration{});
  }
}

}  // namespace

std::string class_of(const std::string& given, const policy::Command& command) {
  return given.empty() ? policy::key_of(command).exact : given;
}

std::optional<JobRow> parse_job_row(std::string_view json) {
  const auto job = report::parse_recorded_job(json);
  if (!job) return std::nullopt;
  const counters::Sample& totals = job->usage.totals;
  JobRow row{.id = job->id,
             .job_class = class_of(job->job_class, job->command),
             .command = policy::command_line(job->command),
             .outcome = job->outcome,
             .exit_code = job->exit_code,
             .signal = job->signal,
             .attempts = job->attempts,
             .wall = job->wall,
             .cpu = totals.cpu.usage,
             .read = totals.io.read,
             .written = totals.io.written};
  if (job->attempts > 0) row.peak = peak_of(job->usage);
  if (const auto report = report::parse_document(json, "plimsoll.job/1")) {
    add_times(row, report::member(*report, "times"));
    // The last sample, of which the totals are, has neither.
    const report::Json& memory = report::member(*report, "memory");
    row.kernel_peak = report::bytes_at(memory, "peak_bytes");
    row.limit = report::bytes_at(memory, "max_bytes");
  }
  return row;
}

std::vector<JobRow> parse_job_rows(const std::vector<std::string>& lines,
                                   const std::vector<report::RecordedEvent>& events) {
  std::unordered_map<std::string, std::uint64_t> numbers;
  for (const report::RecordedEvent& event : events) {
    if (event.number) numbers.emplace(event.job, *event.number);
  }
  std::vector<JobRow> rows;
  for (const std::string& line : lines) {
    auto row = parse_job_row(line);
    if (!row) continue;
    const auto number = numbers.find(row->id);
    if (number != numbers.end()) row->number = number->second;
    rows.push_back(std::move(*row));
  }
  return rows;
}

bool succeeded(const JobRow& job) { return job.outcome == "exited" && job.exit_code == 0; }

bool was_executed(const JobRow& job) {
  if (job.attempts == 0 || job.outcome == "skipped" || job.outcome == "failed_to_start") {
    return false;
  }
  return job.outcome != "exited" ||
         (job.exit_code != kShellCannotExecute && job.exit_code != kShellNotFound);
}

std::optional<double> cores(const JobRow& job) {
  const auto ran = job.ran ? job.ran : job.wall;
  if (!job.cpu || !ran || *ran <= Duration{}) return std::nullopt;
  return to_seconds(*job.cpu) / to_seconds(*ran);
}

}  // namespace plimsoll::analysis

#include "store/runs/run_meta.h"

#include "policy/job/job.h"
#include "report/json_read.h"
#include "report/json_text.h"

namespace plimsoll::report {
namespace {

constexpr const char* kMetaSchema = "plimsoll.meta/1";
constexpr const char* kSingle = "single";
constexpr const char* kGoverned = "governed";

Json left_out_json(const LeftOut& left_out) {
  return Json{{"unstarted", left_out.unstarted},
              {"beyond", left_out.beyond},
              {"late", left_out.late},
              {"unwritten", left_out.unwritten}};
}

}  // namespace

std::string to_json(const RunMeta& meta, RunMark mark) {
  auto json = Json::object();
  json["schema"] = kMetaSchema;
  json["run"] = meta.run;
  if (meta.kind == RunKind::single) json["kind"] = kSingle;
  if (meta.kind == RunKind::governed) json["kind"] = kGoverned;
  json["state"] = mark == RunMark::finished ? "finished" : "running";
  json["command_line"] = meta.command_line;
  json["started_unix_ns"] = meta.started.time_since_epoch().count();
  json["jobs"] = meta.jobs;
  if (meta.line) json["line_bytes"] = meta.line->count;
  if (meta.cores) json["cores"] = *meta.cores;
  if (meta.left_out != LeftOut{}) json["left_out"] = left_out_json(meta.left_out);
  return text_of(json, JsonForm::pretty);
}

std::optional<MarkedMeta> parse_meta(std::string_view text) {
  const auto json = parse_document(text, kMetaSchema);
  if (!json) return std::nullopt;
  MarkedMeta marked;
  marked.meta.run = text_at(*json, "run");
  marked.mark = text_at(*json, "state") == "finished" ? RunMark::finished : RunMark::begun;
  marked.meta.command_line = texts_at(*json, "command_line");
  marked.meta.started = WallTime(duration_at(*json, "started_unix_ns").value_or(Duration{}));
  marked.meta.jobs = count_at(*json, "jobs").value_or(0);
  marked.meta.line = bytes_at(*json, "line_bytes");
  marked.meta.cores = number_at(*json, "cores");
  if (text_at(*json, "kind") == kSingle) marked.meta.kind = RunKind::single;
  if (text_at(*json, "kind") == kGoverned) marked.meta.kind = RunKind::governed;
  const Json& left_out = member(*json, "left_out");
  marked.meta.left_out = {.unstarted = count_at(left_out, "unstarted").value_or(0),
                          .beyond = count_at(left_out, "beyond").value_or(0),
                          .late = count_at(left_out, "late").value_or(0),
                          .unwritten = count_at(left_out, "unwritten").value_or(0)};
  return marked;
}

std::optional<RunFigures> parse_figures(std::string_view text) {
  const auto json = parse_document(text, "plimsoll.run/1");
  if (!json) return std::nullopt;
  RunFigures figures;
  figures.makespan = duration_at(*json, "makespan_ns");
  figures.jobs = count_at(*json, "jobs").value_or(0);
  const Json& outcomes = member(*json, "outcomes");
  if (outcomes.is_object()) {
    for (const auto& [outcome, count] : outcomes.items()) {
      if (count.is_number_unsigned()) figures.outcomes[outcome] = count.get<std::uint64_t>();
    }
  }
  figures.succeeded = count_at(*json, "succeeded");
  figures.small_steps = count_at(member(*json, "command"), "small_steps").value_or(0);
  figures.holds = count_at(*json, "holds").value_or(0);
  figures.pauses = count_at(*json, "pauses").value_or(0);
  figures.evictions = count_at(*json, "evictions").value_or(0);
  figures.lost_cpu = duration_at(*json, "lost_cpu_ns");
  figures.line = bytes_at(*json, "line_bytes");
  figures.used_peak = bytes_at(*json, "used_peak_bytes");
  return figures;
}

bool has_failed(const JobBrief& job) {
  if (job.outcome == policy::name_of(policy::Outcome::skipped)) return false;
  if (job.outcome != policy::name_of(policy::Outcome::exited)) return true;
  return job.exit_code && *job.exit_code != 0;  // of a step only its parent knows it
}

std::optional<JobBrief> parse_job_brief(std::string_view text) {
  const auto json = parse_document(text, "plimsoll.job/1");
  if (!json) return std::nullopt;
  JobBrief brief;
  brief.id = text_at(*json, "id");
  brief.command = policy::command_line(command_at(*json));
  brief.outcome = text_at(*json, "outcome");
  if (const Json& code = member(*json, "exit_code"); code.is_number_integer()) {
    brief.exit_code = code.get<std::int64_t>();
  }
  brief.signal = text_at(*json, "signal");
  brief.reason = text_at(*json, "reason");
  const Json& attempts = member(*json, "attempts");
  brief.attempts = attempts.is_array() ? attempts.size() : 0;
  const Json& times = member(*json, "times");
  brief.wall = duration_at(times, "wall_ns");
  brief.held = duration_at(times, "held_ns");
  brief.paused = duration_at(times, "paused_ns");
  brief.peak = bytes_at(member(*json, "memory"), "peak_bytes");
  return brief;
}

}  // namespace plimsoll::report

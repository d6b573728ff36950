#include "store/runs/provenance.h"

#include <nlohmann/json.hpp>

#include "report/buildkit.h"
#include "report/json_put.h"
#include "report/json_shortest.h"
#include "report/rfc3339.h"

namespace plimsoll::report {
namespace {

// The parameters are ours, not those of a BuildKit build, and so is the word for what they mean.
constexpr const char* kBuildType = "urn:plimsoll:run:1";
constexpr const char* kBuilder = "urn:plimsoll";

// The words that the command means, though no shell may have been started.
std::vector<std::string> words_of(const policy::Command& command) {
  if (const auto* shell = std::get_if<std::string>(&command)) return {"/bin/sh", "-c", *shell};
  return std::get<Words>(command).all();
}

// The command as BuildKit tells the operation of a step.
Json operation(const RecordedJob& job) {
  auto meta = Json::object();
  meta["args"] = words_of(job.command);
  put_text(meta, "cwd", job.cwd);
  auto exec = Json::object();
  exec["exec"]["meta"] = std::move(meta);
  auto json = Json::object();
  json["Op"] = std::move(exec);
  return json;
}

// What BuildKit has no place for, by the names of our own report.
Json own_figures(const RecordedJob& job) {
  auto json = Json::object();
  json["id"] = job.id;
  put_text(json, "class", job.job_class);
  json["outcome"] = job.outcome;
  if (job.exit_code) json["exit_code"] = *job.exit_code;
  put_text(json, "signal", job.signal);
  put_text(json, "reason", job.reason);
  json["attempts"] = job.attempts;
  return json;
}

Json steps(const std::vector<RecordedJob>& jobs) {
  auto list = Json::array();
  for (const RecordedJob& job : jobs) {
    auto step = Json::object();
    step["id"] = "step" + std::to_string(list.size());
    step["op"] = operation(job);
    put_part(step, "resourceUsage", buildkit_usage(job.usage, job.machine));
    step["plimsoll"] = own_figures(job);
    list.push_back(std::move(step));
  }
  return list;
}

Json build_definition(const RunEntry& run, const std::vector<RecordedJob>& jobs) {
  auto json = Json::object();
  json["buildType"] = kBuildType;
  json["externalParameters"]["commandLine"] = run.meta.command_line;
  json["internalParameters"]["buildConfig"]["llbDefinition"] = steps(jobs);
  return json;
}

Json run_details(const RunEntry& run, const std::vector<counters::SystemSample>& system) {
  auto metadata = Json::object();
  metadata["invocationId"] = run.id;
  const WallTime started = run.meta.started;
  if (started != WallTime()) metadata["startedOn"] = rfc3339(started);
  if (run.figures && run.figures->makespan &&
      *run.figures->makespan <= Duration::max() - started.time_since_epoch()) {
    metadata["finishedOn"] = rfc3339(started + *run.figures->makespan);
  }
  auto own = Json::object();
  put_part(own, "sysUsage", buildkit_system_usage(system));
  put_part(metadata, "buildkit_metadata", std::move(own));
  auto json = Json::object();
  json["builder"]["id"] = kBuilder;
  json["metadata"] = std::move(metadata);
  return json;
}

}  // namespace

std::string provenance_text(const RunEntry& run, const std::vector<RecordedJob>& jobs,
                            const std::vector<counters::SystemSample>& system) {
  auto json = Json::object();
  json["_type"] = "https://in-toto.io/Statement/v1";
  json["subject"] = Json::array();
  json["predicateType"] = "https://slsa.dev/provenance/v1";
  json["predicate"]["buildDefinition"] = build_definition(run, jobs);
  json["predicate"]["runDetails"] = run_details(run, system);
  return shortest_text_of(json);
}

}  // namespace plimsoll::report

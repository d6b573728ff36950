#include "store/runs/provenance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/buildkit.h"
#include "report/json.h"
#include "unit/report/reports.h"

namespace plimsoll::report {
namespace {

using nlohmann::json;
using ::testing::StartsWith;
using namespace testing;

RunEntry finished_run() {
  RunEntry run;
  run.id = "20240102-030405-ab";
  run.state = RunState::finished;
  run.meta.command_line = {"plimsoll", "batch", "my jobs"};
  run.meta.started = wall_at(1'700'000'000s);
  run.figures.emplace();
  run.figures->makespan = 90'500ms;
  return run;
}

std::vector<RecordedJob> two_jobs() {
  return {*parse_recorded_job(to_json(full_report(), JsonForm::line)),
          *parse_recorded_job(to_json(bare_report(), JsonForm::line))};
}

// By hand from docs/formats/buildkit.md; the usage, which has tests of its own, is put in.
constexpr const char* kStatement = R"({
  "_type": "https://in-toto.io/Statement/v1",
  "subject": [],
  "predicateType": "https://slsa.dev/provenance/v1",
  "predicate": {
    "buildDefinition": {
      "buildType": "urn:plimsoll:run:1",
      "externalParameters": {"commandLine": ["plimsoll", "batch", "my jobs"]},
      "internalParameters": {"buildConfig": {"llbDefinition": [
        {"id": "step0",
         "op": {"Op": {"exec": {"meta": {"args": ["ld", "-o", "a b"], "cwd": "/src"}}}},
         "plimsoll": {"id": "link", "class": "ld", "outcome": "over_limit", "signal": "KILL",
                      "reason": "reached its limit of 2 GiB", "attempts": 2}},
        {"id": "step1",
         "op": {"Op": {"exec": {"meta": {"args": ["/bin/sh", "-c", "make all"]}}}},
         "plimsoll": {"id": "7", "outcome": "skipped",
                      "reason": "not started: the run was interrupted", "attempts": 0}}]}}},
    "runDetails": {
      "builder": {"id": "urn:plimsoll"},
      "metadata": {"invocationId": "20240102-030405-ab",
                   "startedOn": "2023-11-14T22:13:20Z",
                   "finishedOn": "2023-11-14T22:14:50.5Z"}}}
})";

TEST(Provenance, IsAStatementWithUsageWhereBuildkitHasIt) {
  const std::vector<RecordedJob> jobs = two_jobs();
  counters::SystemSample machine;
  machine.wall = wall_at(1'700'000'001s);
  machine.processes_running = 1;
  json expected = json::parse(kStatement);
  json& predicate = expected["predicate"];
  predicate["buildDefinition"]["internalParameters"]["buildConfig"]["llbDefinition"][0]
           ["resourceUsage"] = json::parse(buildkit_usage(jobs[0].usage, jobs[0].machine).dump());
  predicate["runDetails"]["metadata"]["buildkit_metadata"]["sysUsage"] =
      json::parse(R"([{"timestamp": "2023-11-14T22:13:21Z"}])");
  const json found = json::parse(provenance_text(finished_run(), jobs, {machine}));
  EXPECT_EQ(found, expected) << json::diff(expected, found).dump(1);
}

TEST(Provenance, OfARunThatGoesOnHasNoEnd) {
  RunEntry run = finished_run();
  run.figures.reset();
  const json found = json::parse(provenance_text(run, {}, {}));
  const json& metadata = found["predicate"]["runDetails"]["metadata"];
  EXPECT_EQ(metadata, json::parse(R"({"invocationId": "20240102-030405-ab",
                                      "startedOn": "2023-11-14T22:13:20Z"})"));
  EXPECT_EQ(found["predicate"]["buildDefinition"]["internalParameters"]["buildConfig"],
            json::parse(R"({"llbDefinition": []})"));
}

TEST(Provenance, AnEndBeyondAllTimeIsAbsent) {
  RunEntry run = finished_run();
  run.figures->makespan = Duration::max();
  const json found = json::parse(provenance_text(run, {}, {}));
  EXPECT_FALSE(found["predicate"]["runDetails"]["metadata"].contains("finishedOn"));
}

TEST(Provenance, AnyBytesBecomeValidText) {
  RunEntry run = finished_run();
  run.meta.command_line = {"\xff"};
  const std::string text = provenance_text(run, two_jobs(), {});
  EXPECT_THAT(text, StartsWith("{\n  \"_type\": \"https://in-toto.io/Statement/v1\",\n"));
  EXPECT_EQ(json::parse(text)["predicate"]["buildDefinition"]["externalParameters"]["commandLine"],
            json::parse("[\"\xef\xbf\xbd\"]"));
}

}  // namespace
}  // namespace plimsoll::report

#include "store/runs/recorded_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/json.h"
#include "report/summary.h"
#include "report/top_jobs.h"
#include "unit/report/reports.h"

namespace plimsoll::report {
namespace {

using namespace testing;

const TextStyle kWide{.width = 500};

TEST(RecordedReport, PeopleAreToldTheSameOfAJob) {
  for (const JobReport& report : {full_report(), bare_report()}) {
    const auto read = parse_job_report(to_json(report, JsonForm::line));
    ASSERT_TRUE(read);
    EXPECT_EQ(job_summary(*read, kWide), job_summary(report, kWide));
    EXPECT_EQ(read->id, report.id);
    EXPECT_EQ(read->job_class, report.job_class);
    EXPECT_EQ(read->command, report.command);
  }
}

TEST(RecordedReport, PeopleAreToldTheSameOfARun) {
  RunSummary summary;
  summary.run = "20240101-1";
  summary.makespan = 90s;
  summary.jobs = 2;
  summary.outcomes = {{policy::Outcome::exited, 1}, {policy::Outcome::over_limit, 1}};
  summary.holds = 4;
  summary.pauses = 3;
  summary.evictions = 2;
  summary.lost_cpu = 3s;
  summary.line = 2_GiB;
  summary.used_peak = 1_GiB;
  summary.oom_kills = 1;
  summary.cpu_usage = 60s;
  summary.cores_of_others = 1.94;
  summary.cores_of_machine = 2;
  const auto read = parse_run_summary(to_json(summary, JsonForm::pretty));
  ASSERT_TRUE(read);
  TopJobs top_jobs(10);
  top_jobs.add(full_report());
  top_jobs.add(bare_report());
  EXPECT_EQ(run_text(*read, top_jobs, kWide), run_text(summary, top_jobs, kWide));
}

TEST(RecordedReport, PeopleAreToldTheSameOfACommandAndItsSteps) {
  RunSummary summary;
  summary.run = "20240101-1";
  summary.makespan = 3s;
  summary.jobs = 12;
  summary.pauses = 2;
  summary.command = CommandReport{.outcome = policy::Outcome::exited,
                                  .exit_code = 2,
                                  .reason = "",
                                  .small_steps = 3,
                                  .held_steps = 1,
                                  .killed_steps = 1,
                                  .reruns = 1,
                                  .tokens_recovered = 1,
                                  .why_whole = ""};
  JobReport step = bare_report();  // of a configure script, whose tests may fail
  step.outcome = policy::Outcome::exited;
  step.exit_code = 1;
  TopJobs steps(1);
  steps.add(step);
  const auto told = [&steps](const RunSummary& run) { return run_text(run, steps, kWide); };
  EXPECT_EQ(
      told(summary),
      "plimsoll: the command exited with code 2 in 3.00 s\n"
      "  steps        12, of which 3 small ones that were not measured\n"
      "  governor     held 1 step, paused 2 times, killed 1 step for want of memory, run again "
      "1 time\n"
      "  jobserver    1 token of a killed client was replaced\n");
  const auto read = parse_run_summary(to_json(summary, JsonForm::pretty));
  ASSERT_TRUE(read && read->command);
  EXPECT_EQ(told(*read), told(summary));
  summary.command->why_watched = "the filter cannot be installed";
  const auto watched = parse_run_summary(to_json(summary, JsonForm::line));
  ASSERT_TRUE(watched && watched->command);
  EXPECT_EQ(watched->command->why_watched, "the filter cannot be installed");
  EXPECT_THAT(told(*watched), ::testing::HasSubstr("without those too short to be seen"));
  summary.command = CommandReport{.outcome = policy::Outcome::signalled,
                                  .signal = 9,
                                  .reason = "was ended by signal KILL",
                                  .why_whole = "as --no-hold says"};
  EXPECT_EQ(told(summary),
            "plimsoll: the command was ended by signal KILL in 3.00 s\n"
            "  steps        none, as the command was measured as a whole: as --no-hold says\n"
            "  governor     held 0 steps, paused 2 times\n");
  EXPECT_EQ(told(*parse_run_summary(to_json(summary, JsonForm::line))), told(summary));
}

TEST(RecordedReport, HeaviestJobsAreTheSame) {
  TopJobs told(10), read(10);
  told.add(full_report());
  read.add(*parse_job_report(to_json(full_report(), JsonForm::line)));
  for (const Weight weight : {Weight::memory, Weight::cpu, Weight::stall}) {
    EXPECT_EQ(heaviest_table(read, {.by = weight}, kWide),
              heaviest_table(told, {.by = weight}, kWide));
    EXPECT_NE(heaviest_table(read, {.by = weight}, kWide), "");
  }
}

TEST(RecordedReport, OtherTextIsNone) {
  for (const char* text :
       {"", "{}", R"({"schema":"plimsoll.run/1"})", R"({"schema":"plimsoll.job/1"})",
        R"({"schema":"plimsoll.job/1","id":"1","outcome":"of a later Plimsoll"})"}) {
    EXPECT_FALSE(parse_job_report(text)) << text;
  }
  EXPECT_FALSE(parse_run_summary(R"({"schema":"plimsoll.job/1"})"));
  // Members of other types are absent.
  const auto odd = parse_job_report(
      R"({"schema":"plimsoll.job/1","outcome":"exited","exit_code":"0","attempts":7,)"
      R"("left_behind":{},"times":[],"memory":1,"rusage":null,"unavailable":[1]})");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->exit_code, std::nullopt);
}

}  // namespace
}  // namespace plimsoll::report

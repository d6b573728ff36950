#include "store/runs/recorded_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/buildkit.h"
#include "report/json.h"
#include "unit/report/reports.h"

namespace plimsoll::report {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using namespace testing;

// A report whose job has been looked at many times.
JobReport measured_report() {
  JobReport report = full_report();
  for (int i = 1; i < 30; ++i) {
    counters::Sample sample = full_sample();
    sample.t += i * 1s;
    sample.wall += i * 1s;
    sample.memory.current = Bytes{static_cast<std::uint64_t>(i % 7) << 20};
    if (i % 3 == 0) sample.network.reset();
    if (i % 5 == 0) sample.cpu.pressure->full.reset();
    report.usage->samples.push_back(sample);
  }
  report.usage->totals = report.usage->samples.back();
  return report;
}

TEST(RecordedJob, IsExportedAsTheReportThatWasRecorded) {
  const JobReport report = measured_report();
  const auto job = parse_recorded_job(to_json(report, JsonForm::line));
  ASSERT_TRUE(job);
  EXPECT_EQ(job->id, "link");
  EXPECT_EQ(job->job_class, "ld");
  EXPECT_EQ(job->command, report.command);
  EXPECT_EQ(job->cwd, "/src");
  EXPECT_EQ(job->outcome, "over_limit");
  EXPECT_EQ(job->signal, "KILL");
  EXPECT_EQ(job->reason, report.reason);
  EXPECT_EQ(job->attempts, 2U);
  EXPECT_EQ(buildkit_usage(job->usage, job->machine),
            buildkit_usage(*report.usage, report.machine->cpu));
}

TEST(RecordedJob, OfAReportWithoutSamplesHasItsTotals) {
  JobReport report = measured_report();
  report.usage->samples.clear();
  const auto job = parse_recorded_job(to_json(report, JsonForm::line));
  ASSERT_TRUE(job);
  EXPECT_TRUE(job->usage.samples.empty());
  const counters::Sample& totals = job->usage.totals;
  EXPECT_EQ(totals.wall, report.times.ended);
  EXPECT_EQ(totals.cpu.user, 2s);
  EXPECT_EQ(totals.memory.peak, 1_GiB);
  EXPECT_EQ(totals.memory.events, report.usage->totals.memory.events);
  EXPECT_EQ(totals.io.write_ops, 5U);
  ASSERT_TRUE(totals.network);
  EXPECT_EQ(totals.network->tx, Bytes{200});
  // Of the highest sample in the report, so not of the end.
  EXPECT_EQ(totals.memory.stat.anon, std::nullopt);
  // Averages are of the moment, and that has passed.
  ASSERT_TRUE(totals.memory.pressure && totals.memory.pressure->full);
  EXPECT_EQ(*totals.memory.pressure->full, (counters::PressureLine{.total = 10ms}));
}

TEST(RecordedJob, OfOneThatNeverRanHasNoUsage) {
  const auto job = parse_recorded_job(to_json(bare_report(), JsonForm::line));
  ASSERT_TRUE(job);
  EXPECT_EQ(job->command, policy::Command("make all"));
  EXPECT_EQ(job->outcome, "skipped");
  EXPECT_TRUE(buildkit_usage(job->usage, job->machine).empty());
}

TEST(RecordedJob, DamageIsPassedOver) {
  EXPECT_FALSE(parse_recorded_job(""));
  EXPECT_FALSE(parse_recorded_job(R"({"schema": "plimsoll.run/1"})"));
  const auto job = parse_recorded_job(R"({"schema": "plimsoll.job/1", "argv": ["a", 1, "b"],
      "id": 7, "attempts": {}, "machine": {"cpu": {"user_ns": 1}}, "times": [],
      "samples": [{"t_ns": 9}, 5, {"t_ns": -3, "stat": [], "pressure": {"cpu": 1}},
                  {"t_ns": 2}]})");
  ASSERT_TRUE(job);
  EXPECT_EQ(job->command, (policy::Command(std::vector<std::string>{"a", "b"})));
  EXPECT_FALSE(job->machine);
  EXPECT_THAT(job->usage.samples,
              ElementsAre(Field(&counters::Sample::t, 0ns), Field(&counters::Sample::t, 0ns),
                          Field(&counters::Sample::t, 2ns), Field(&counters::Sample::t, 9ns)));
}

TEST(RecordedJob, SystemSamplesComeBack) {
  RunSummary summary;
  summary.started = Instant(1000s);
  for (unsigned i = 0; i < 40; ++i) {
    counters::SystemSample sample;
    sample.at = Instant(1000s + i * 1s);
    sample.wall = wall_at(1'700'000'000s + i * 1s);
    sample.cpu = counters::SystemSample::Cpu{};
    sample.cpu->steal = i * 1ms;
    sample.context_switches = i;
    sample.processes_created = 2;
    sample.processes_running = 3;
    sample.meminfo = {{"MemTotal", 8_GiB}, {"MemAvailable", Bytes{1024UL * (50 - i)}}};
    sample.io_pressure = pressure(i * 1ms, 0s);
    summary.system_samples.push_back(sample);
  }
  const auto samples = parse_system_samples(to_json(summary, JsonForm::pretty));
  ASSERT_EQ(samples.size(), 40U);
  EXPECT_EQ(buildkit_system_usage(samples), buildkit_system_usage(summary.system_samples));
  EXPECT_TRUE(parse_system_samples("{}").empty());
}

TEST(RecordedJob, OrderOfInputIsTheEvents) {
  std::vector<RecordedJob> jobs(4);
  jobs[0].id = "2";
  jobs[1].id = "lost";
  jobs[2].id = "link";
  jobs[3].id = "other";
  into_order_of_input(jobs, {{.job = "link", .number = 1}, {.job = "2", .number = 2}, {}});
  EXPECT_THAT(jobs, ElementsAre(Field(&RecordedJob::id, "link"), Field(&RecordedJob::id, "2"),
                                Field(&RecordedJob::id, "lost"), Field(&RecordedJob::id, "other")));
}

}  // namespace
}  // namespace plimsoll::report

#include "daemon/metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/metric_family.h>

#include "daemon/metrics/exposition.h"

namespace plimsoll::metrics {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace literals;

struct MetricsTest : ::testing::Test {
  std::string text(Exposition exposition = Exposition::open_metrics) const {
    return expose(metrics.collect(snapshot), exposition);
  }

  static report::JobReport report(const std::string& job_class, policy::Outcome outcome) {
    report::JobReport report;
    report.job_class = job_class;
    report.outcome = outcome;
    report.attempts.push_back({.outcome = outcome,
                               .started = {},
                               .wall = std::chrono::milliseconds(1500),
                               .peak = 100_MiB});
    return report;
  }

  Metrics metrics{"1.2.3"};
  Snapshot snapshot;
};

TEST_F(MetricsTest, CountsDecisionsFromZero) {
  EXPECT_THAT(text(), HasSubstr("plimsoll_decisions_total{kind=\"evicted\"} 0\n"));
  metrics.event({.at = {}, .kind = policy::EventKind::evicted, .job = JobId{1}});
  metrics.event({.at = {}, .kind = policy::EventKind::evicted, .job = JobId{2}});
  metrics.event({.at = {}, .kind = policy::EventKind::alarm});
  EXPECT_THAT(text(), HasSubstr("plimsoll_decisions_total{kind=\"evicted\"} 2\n"));
  EXPECT_THAT(text(), HasSubstr("plimsoll_decisions_total{kind=\"frozen\"} 0\n"));
  EXPECT_THAT(text(), HasSubstr("plimsoll_alarms_total 1\n"));
}

TEST_F(MetricsTest, CountsHoldsByTheirReason) {
  metrics.event({.at = {},
                 .kind = policy::EventKind::held,
                 .job = JobId{1},
                 .hold = policy::HoldCause::memory});
  EXPECT_THAT(text(), HasSubstr("plimsoll_holds_total{reason=\"memory\"} 1\n"));
}

TEST_F(MetricsTest, AJobThatEndedIsInTheHistogramsOfItsClass) {
  metrics.ended(report("gcc", policy::Outcome::exited));
  const std::string seen = text();
  EXPECT_THAT(seen, HasSubstr("plimsoll_jobs_ended_total{outcome=\"exited\"} 1\n"));
  EXPECT_THAT(seen, HasSubstr("plimsoll_job_wall_seconds_bucket{class=\"gcc\",le=\"1\"} 0\n"));
  EXPECT_THAT(seen, HasSubstr("plimsoll_job_wall_seconds_bucket{class=\"gcc\",le=\"2\"} 1\n"));
  EXPECT_THAT(seen, HasSubstr("plimsoll_job_wall_seconds_sum{class=\"gcc\"} 1.5\n"));
  EXPECT_THAT(seen,
              HasSubstr("plimsoll_job_memory_peak_bytes_bucket{class=\"gcc\",le=\"+Inf\"} 1\n"));
  EXPECT_THAT(seen, HasSubstr("plimsoll_job_memory_peak_bytes_sum{class=\"gcc\"} 104857600\n"));
}

TEST_F(MetricsTest, WhatNeverStartedHasNoTimes) {
  report::JobReport skipped;
  skipped.outcome = policy::Outcome::skipped;
  metrics.ended(skipped);
  EXPECT_THAT(text(), HasSubstr("plimsoll_jobs_ended_total{outcome=\"skipped\"} 1\n"));
  EXPECT_THAT(text(), Not(HasSubstr("plimsoll_job_wall_seconds")));
}

TEST_F(MetricsTest, WhatOtherRunsHaveIsToldWhereSomethingIsLeased) {
  EXPECT_THAT(text(), Not(HasSubstr("plimsoll_lease_")));
  snapshot.others = supervisor::Others{
      .runs = 2, .jobs = 6, .used = 100_MiB, .claimed = 300_MiB, .cores_used = 1.5};
  const std::string seen = text();
  EXPECT_THAT(seen, HasSubstr("plimsoll_lease_runs 2\n"));
  EXPECT_THAT(seen, HasSubstr("plimsoll_lease_jobs 6\n"));
  EXPECT_THAT(seen, HasSubstr("plimsoll_lease_used_bytes 104857600\n"));
  EXPECT_THAT(seen, HasSubstr("plimsoll_lease_claimed_bytes 314572800\n"));
  EXPECT_THAT(seen, HasSubstr("plimsoll_lease_cores_used 1.5\n"));
}

TEST_F(MetricsTest, WatchedFileSystemsHaveAFloorAndFreeSpace) {
  EXPECT_THAT(text(), Not(HasSubstr("plimsoll_disk_")));
  snapshot.scheduler.disks = {{.floor = {.path = "/scratch", .floor = 1_GiB}, .free = 100_MiB},
                              {.floor = {.path = "/hangs", .floor = 1_MiB}, .free = {}}};
  const std::string seen = text();
  EXPECT_THAT(seen, HasSubstr("plimsoll_disk_free_bytes{path=\"/scratch\"} 104857600\n"));
  EXPECT_THAT(seen, HasSubstr("plimsoll_disk_floor_bytes{path=\"/scratch\"} 1073741824\n"));
  EXPECT_THAT(seen, HasSubstr("plimsoll_disk_floor_bytes{path=\"/hangs\"} 1048576\n"));
  EXPECT_THAT(seen, Not(HasSubstr("plimsoll_disk_free_bytes{path=\"/hangs\"}")));
}

TEST_F(MetricsTest, OomKillsAreToldByWhoseLimitItWas) {
  report::JobReport killed = report("x", policy::Outcome::machine_oom);
  killed.attempts.back().oom.emplace().level = policy::OomLevel::pool;
  metrics.ended(killed);
  EXPECT_THAT(text(), HasSubstr("plimsoll_oom_kills_total{limit=\"pool\"} 1\n"));
}

TEST_F(MetricsTest, ClassesAreBoundedAndFitToBeLabels) {
  metrics.ended(report("a\n\"b\\\xff", policy::Outcome::exited));
  EXPECT_THAT(text(), HasSubstr("plimsoll_job_wall_seconds_count{class=\"a?\\\"b\\\\?\"} 1\n"));
  for (std::size_t i = 0; i < 3 * kClassesMax; ++i) {
    metrics.ended(report("class" + std::to_string(i), policy::Outcome::exited));
  }
  EXPECT_THAT(text(), HasSubstr("plimsoll_job_wall_seconds_count{class=\"(others)\"} 201\n"));
  EXPECT_THAT(text(), Not(HasSubstr("class=\"class250\"")));
}

TEST_F(MetricsTest, ShowsTheSnapshot) {
  snapshot.scheduler.line = 1_GiB;
  snapshot.scheduler.running = 5;
  snapshot.scheduler.frozen = 2;
  snapshot.scheduler.waiting = 7;
  snapshot.monitors = {{.name = "event", .why = {}, .health = "working", .works = true},
                       {.name = "pressure", .why = {}, .health = "failed: x", .works = false}};
  snapshot.machine.emplace();
  snapshot.machine->meminfo["MemAvailable"] = Bytes{4096};
  snapshot.machine->io_pressure = counters::Pressure{
      .some = counters::PressureLine{.total = std::chrono::milliseconds(2500)}, .full = {}};
  const std::string seen = text();
  EXPECT_THAT(seen, HasSubstr("plimsoll_jobs{state=\"running\"} 5\n"));
  EXPECT_THAT(seen, HasSubstr("plimsoll_jobs{state=\"paused\"} 2\n"));
  EXPECT_THAT(seen, HasSubstr("plimsoll_jobs{state=\"waiting\"} 7\n"));
  EXPECT_THAT(seen, HasSubstr("plimsoll_line_bytes 1073741824\n"));
  EXPECT_THAT(seen, HasSubstr("plimsoll_monitor_up{monitor=\"event\"} 1\n"));
  EXPECT_THAT(seen, HasSubstr("plimsoll_monitor_up{monitor=\"pressure\"} 0\n"));
  EXPECT_THAT(seen, HasSubstr("plimsoll_machine_available_bytes 4096\n"));
  EXPECT_THAT(seen, HasSubstr("plimsoll_stall_seconds_total{scope=\"machine\",resource=\"io\","
                              "share=\"some\"} 2.5\n"));
  EXPECT_THAT(seen, HasSubstr("plimsoll_build_info{version=\"1.2.3\"} 1\n"));
}

TEST_F(MetricsTest, WhatIsNotKnownIsNotServed) {
  EXPECT_THAT(text(), Not(HasSubstr("plimsoll_machine_available_bytes")));
  EXPECT_THAT(text(), Not(HasSubstr("plimsoll_stall_seconds")));
  EXPECT_THAT(text(), Not(HasSubstr("plimsoll_monitor_up")));
}

TEST_F(MetricsTest, OpenMetricsNamesFamiliesWithoutTheSuffixAndEnds) {
  const std::string seen = text();
  EXPECT_THAT(seen, HasSubstr("# TYPE plimsoll_alarms counter\n"));
  EXPECT_THAT(seen, HasSubstr("# UNIT plimsoll_line_bytes bytes\n"));
  EXPECT_THAT(seen, HasSubstr("# UNIT plimsoll_lost_cpu_seconds seconds\n"));
  EXPECT_THAT(seen, EndsWith("\n# EOF\n"));
}

TEST_F(MetricsTest, TheOlderFormatKeepsTheSuffixAndHasNoEnd) {
  const std::string seen = text(Exposition::text);
  EXPECT_THAT(seen, HasSubstr("# TYPE plimsoll_alarms_total counter\n"));
  EXPECT_THAT(seen, Not(HasSubstr("# EOF")));
}

TEST(ExpositionFor, GoesByTheAcceptHeader) {
  EXPECT_EQ(exposition_for(""), Exposition::text);
  EXPECT_EQ(exposition_for("text/plain;version=0.0.4;q=0.5,*/*;q=0.1"), Exposition::text);
  EXPECT_EQ(exposition_for("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"),
            Exposition::open_metrics);
  EXPECT_EQ(exposition_for("text/plain, application/openmetrics-text; q=0.7"),
            Exposition::open_metrics);
  EXPECT_EQ(exposition_for("application/openmetrics-text;q=0"), Exposition::text);
}

}  // namespace
}  // namespace plimsoll::metrics

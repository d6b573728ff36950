#include "cli/runs/simulated_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace plimsoll::cli {
namespace {

using namespace plimsoll::literals;
using namespace std::chrono_literals;
using report::RecordedEvent;
using report::RecordedJob;
using std::vector;

counters::Sample look(Duration t, Bytes used, Duration cpu, Duration waited = {}) {
  counters::Sample sample;
  sample.t = t;
  sample.memory.used = used;
  sample.cpu.usage = cpu;
  sample.cpu.pressure.emplace();
  sample.cpu.pressure->some.emplace();
  sample.cpu.pressure->some->total = waited;
  return sample;
}

RecordedJob recorded(const std::string& id, vector<counters::Sample> samples, Duration wall) {
  RecordedJob job{.id = id};
  job.command = "work " + id;
  job.attempts = 1;
  job.wall = wall;
  job.cpus = 4;
  if (!samples.empty()) job.usage.totals = samples.back();
  job.usage.samples = std::move(samples);
  return job;
}

RecordedEvent event(Duration t, policy::EventKind kind, const std::string& job) {
  return {.t = t, .kind = kind, .job = job};
}

sim::Curve curve_of(const RecordedJob& job, const vector<RecordedEvent>& events = {}) {
  const auto jobs = replay_of({job}, events);
  EXPECT_EQ(jobs.size(), 1U);
  return jobs.front().curve;
}

TEST(Replay, AJobHasTheCurveOfItsSamplesAndKeepsItsMemoryToTheEnd) {
  const sim::Curve curve = curve_of(recorded("a",
                                             {look(10ms, 5_MiB, 0s), look(1s, 100_MiB, 500ms),
                                              look(2s, 200_MiB, 1s), look(3010ms, 0_MiB, 2s)},
                                             3s));
  EXPECT_NEAR(curve.seconds(), 3, 0.001);
  EXPECT_NEAR(curve.cpu_seconds(), 2, 0.01);
  EXPECT_NEAR(curve.peak_mib(), 200, 0.001);
  EXPECT_NEAR(double{curve.points().back().mib}, 200, 0.001);
}

TEST(Replay, TimeInTheFreezerIsNoPartOfIt) {
  const RecordedJob job =
      recorded("a", {look(1s, 10_MiB, 1s), look(8s, 10_MiB, 2s), look(9s, 0_MiB, 3s)}, 9s);
  const vector<RecordedEvent> events{
      event(20s, policy::EventKind::started, "a"), event(22s, policy::EventKind::frozen, "a"),
      event(23s, policy::EventKind::frozen, "b"), event(28s, policy::EventKind::thawed, "a")};
  EXPECT_NEAR(curve_of(job).seconds(), 9, 0.001);
  const sim::Curve curve = curve_of(job, events);
  EXPECT_NEAR(curve.seconds(), 3, 0.001);
  EXPECT_NEAR(curve.cpu_seconds(), 3, 0.01);
}

TEST(Replay, PausesOfAnAttemptThatWasThrownAwayAreNotThoseOfTheNext) {
  const RecordedJob job = recorded("a", {look(1s, 10_MiB, 1s), look(3s, 0_MiB, 3s)}, 3s);
  EXPECT_NEAR(curve_of(job, {event(0s, policy::EventKind::started, "a"),
                             event(1s, policy::EventKind::frozen, "a"),
                             event(5s, policy::EventKind::started, "a")})
                  .seconds(),
              3, 0.001);
}

TEST(Replay, TimeOfWaitingForACoreIsNoPartOfIt) {
  // Half a core is what it got of the one that it wanted.
  const sim::Curve curve = curve_of(recorded(
      "a", {look(2s, 10_MiB, 1s, 1s), look(4s, 10_MiB, 2s, 2s), look(8s, 0_MiB, 4s, 4s)}, 8s));
  EXPECT_NEAR(curve.seconds(), 4, 0.001);
  EXPECT_NEAR(curve.cpu_seconds(), 4, 0.01);
}

TEST(Replay, ManyThreadsTakeNoLessThanAllCoresTogetherCan) {
  // Some of its eight threads always wait for one of four cores.
  const sim::Curve curve =
      curve_of(recorded("a", {look(1s, 10_MiB, 4s, 1s), look(2s, 0_MiB, 8s, 2s)}, 2s));
  EXPECT_NEAR(curve.seconds(), 2, 0.001);
  EXPECT_NEAR(curve.cpu_seconds(), 8, 0.01);
}

TEST(Replay, WithoutSamplesAJobIsFlat) {
  RecordedJob job = recorded("a", {}, 5s);
  job.usage.totals.memory.peak = 64_MiB;
  job.usage.totals.cpu.usage = 2s;
  const sim::Curve curve = curve_of(job);
  EXPECT_NEAR(curve.seconds(), 5, 0.001);
  EXPECT_NEAR(curve.peak_mib(), 64, 0.001);
  EXPECT_NEAR(curve.cpu_seconds(), 2, 0.01);
}

TEST(Replay, WhoNeverStartedIsLeftOutAndWhatNeedsItNeedsItNoMore) {
  RecordedJob skipped = recorded("b", {}, 0s);
  skipped.attempts = 0;
  RecordedJob last = recorded("c", {}, 1s);
  last.needs = {"b", "a"};
  last.priority = 3;
  last.job_class = "kind";
  const auto jobs = replay_of({recorded("a", {}, 1s), skipped, last}, {});
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[1].spec.id, JobId{2});
  EXPECT_EQ(jobs[1].spec.name, "c");
  EXPECT_EQ(jobs[1].spec.priority, 3);
  EXPECT_EQ(jobs[1].spec.job_class, "kind");
  EXPECT_EQ(jobs[1].spec.command, policy::Command("work c"));
  EXPECT_THAT(jobs[1].spec.needs, testing::ElementsAre(JobId{1}));
}

}  // namespace
}  // namespace plimsoll::cli

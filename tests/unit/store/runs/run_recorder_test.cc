#include "store/runs/run_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "report/json.h"
#include "runs.h"
#include "store/runs/run_dir.h"
#include "unit/report/reports.h"

namespace plimsoll::report {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Optional;
using ::testing::SizeIs;

struct RunRecorderTest : ::testing::Test {
  [[nodiscard]] static RunStart start() {
    return {.meta = {.run = "20240101-1", .command_line = {"plimsoll", "batch"}, .jobs = 2},
            .begun = Instant(100s),
            .names = {{JobId{2}, "link"}}};
  }
  [[nodiscard]] static RunSummary summary() {
    RunSummary summary;
    summary.run = "20240101-1";
    summary.jobs = 2;
    return summary;
  }
  [[nodiscard]] static policy::Event event(Duration at, JobId job) {
    return {.at = Instant(at), .kind = policy::EventKind::started, .job = job};
  }
  [[nodiscard]] static policy::Event queued(JobId job) {
    return {.at = Instant(100s), .kind = policy::EventKind::queued, .job = job};
  }
  [[nodiscard]] static policy::Event ended(JobId job) {
    return {.at = Instant(103s),
            .kind = policy::EventKind::ended,
            .job = job,
            .reason = "not started: the run was halted"};
  }
  [[nodiscard]] static JobReport ran_report(std::uint64_t number) {
    JobReport report = bare_report();
    report.id = std::to_string(number);
    report.outcome = policy::Outcome::exited;
    return report;
  }
  [[nodiscard]] static JobReport skipped_report(std::uint64_t number) {
    JobReport report = bare_report();
    report.id = std::to_string(number);
    report.outcome = policy::Outcome::skipped;
    report.reason = "not started: the run was halted";
    return report;
  }
  [[nodiscard]] static mode_t mode_of(const std::string& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
  }
  [[nodiscard]] std::string path(const std::string& file) const {
    return place.runs() + "/20240101-1/" + file;
  }

  RunsPlace place;
};

TEST_F(RunRecorderTest, RecordsAWholeRun) {
  {
    RunRecorder recorder(place.runs(), start());
    recorder.event(event(101s, JobId{1}));
    recorder.event(event(102s, JobId{2}));
    recorder.job(full_report());
    recorder.job(bare_report());
    recorder.finish(summary());
    recorder.close();
    EXPECT_EQ(recorder.take_notice(), std::nullopt);
  }
  const auto run = find_run(place.runs(), "last");
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_EQ(run->state, RunState::finished);
  EXPECT_EQ(run->meta.command_line, start().meta.command_line);
  ASSERT_TRUE(run->figures);
  EXPECT_EQ(run->figures->jobs, 2U);
  const auto events = read_events(path("events.jsonl"));
  ASSERT_TRUE(events);
  ASSERT_THAT(*events, SizeIs(2));
  EXPECT_EQ((*events)[1].t, 2s);
  EXPECT_EQ((*events)[1].job, "link");
  const std::string reports = place.text("20240101-1/jobs.jsonl");
  EXPECT_EQ(reports,
            to_json(full_report(), JsonForm::line) + to_json(bare_report(), JsonForm::line));
  EXPECT_EQ(mode_of(place.runs()), 0700U);
  EXPECT_EQ(mode_of(path("")), 0700U);
  for (const char* file : {"meta.json", "events.jsonl", "jobs.jsonl", "summary.json"}) {
    EXPECT_EQ(mode_of(path(file)), 0600U) << file;
  }
}

TEST_F(RunRecorderTest, TakesAllOfVeryManyJobsAtOnce) {
  constexpr std::uint64_t kJobs = 60'000, kRan = 50;
  {
    RunRecorder recorder(place.runs(), start());
    for (std::uint64_t i = 1; i <= kJobs; ++i) recorder.event(queued(JobId{i}));
    for (std::uint64_t i = 1; i <= kRan; ++i) {
      recorder.event(event(101s, JobId{i}));
      recorder.event(ended(JobId{i}));
      recorder.job(ran_report(i));
    }
    for (std::uint64_t i = kRan + 1; i <= kJobs; ++i) {
      recorder.event(ended(JobId{i}));
      recorder.job(skipped_report(i));
    }
    recorder.finish(summary());
    recorder.close();
    EXPECT_EQ(recorder.take_notice(), std::nullopt);
  }
  EXPECT_EQ(read_events(path("events.jsonl"))->size(), 2 * kJobs + kRan);
  EXPECT_EQ(read_reports(path("jobs.jsonl"))->size(), kJobs);
  EXPECT_EQ(find_run(place.runs(), "last")->meta.left_out, LeftOut{});
}

TEST_F(RunRecorderTest, LeavesOutJobsThatNeverStartedBeforeThoseThatDid) {
  const std::string long_reason(1 << 20, 'x');
  constexpr std::uint64_t kSkipped = 52, kRan = 24;  // of a MiB each
  {
    RunRecorder recorder(place.runs(), start());
    for (std::uint64_t i = 0; i < kSkipped; ++i) {
      JobReport report = skipped_report(i);
      report.reason = long_reason;
      recorder.job(std::move(report));
    }
    for (std::uint64_t i = 0; i < kRan; ++i) {
      JobReport report = ran_report(kSkipped + i);
      report.reason = long_reason;
      recorder.job(std::move(report));
    }
    recorder.event(ended(JobId{1}));
    recorder.finish(summary());
    recorder.close();
    EXPECT_THAT(recorder.take_notice(), Optional(HasSubstr("record is full")));
    EXPECT_EQ(recorder.take_notice(), std::nullopt);
  }
  const auto reports = read_reports(path("jobs.jsonl"));
  ASSERT_TRUE(reports) << reports.error().message();
  std::size_t skipped = 0, ran = 0;
  for (const std::string& line : *reports) {
    (line.find(R"("outcome":"skipped")") == std::string::npos ? ran : skipped) += 1;
  }
  EXPECT_GT(ran, 10U);
  EXPECT_LE(skipped, 48U);
  const auto run = find_run(place.runs(), "last");
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_EQ(
      run->meta.left_out,
      (LeftOut{
          .unstarted = kSkipped - skipped + 1, .beyond = kRan - ran, .late = 0, .unwritten = 0}));
  EXPECT_EQ(run->figures->jobs, 2U);
}

TEST_F(RunRecorderTest, WhatFindsNoRoomInMemoryIsCounted) {
  constexpr int kHuge = 70;  // of 2 MiB each: more than may wait
  {
    RunRecorder recorder(place.runs(), start());
    for (int i = 0; i < kHuge; ++i) {
      policy::Event one = event(101s, JobId{1});
      one.reason.assign(2 << 20, 'x');
      recorder.event(std::move(one));
    }
    recorder.finish(summary());
    recorder.close();
    const auto notice = recorder.take_notice();
    ASSERT_TRUE(notice);
    EXPECT_THAT(*notice, Not(HasSubstr("disk")));
  }
  const LeftOut left_out = find_run(place.runs(), "last")->meta.left_out;
  EXPECT_GT(left_out.late + left_out.beyond, 0U);
  EXPECT_EQ(read_events(path("events.jsonl"))->size() + left_out.late + left_out.beyond,
            static_cast<std::size_t>(kHuge));
}

TEST_F(RunRecorderTest, AnotherLineShowsAtOnce) {
  RunRecorder recorder(place.runs(), start());
  recorder.line(Bytes{1 << 30});
  recorder.close();
  EXPECT_EQ(find_run(place.runs(), "last")->meta.line, Bytes{1 << 30});
}

TEST_F(RunRecorderTest, WithoutItsEndARunHasDied) {
  {
    RunRecorder recorder(place.runs(), start());
    recorder.event(event(101s, JobId{1}));
  }
  const auto run = find_run(place.runs(), "last");
  ASSERT_TRUE(run);
  EXPECT_EQ(run->state, RunState::died);
  EXPECT_THAT(*read_events(path("events.jsonl")), SizeIs(1));
}

TEST_F(RunRecorderTest, WhatCanNotBeginIsToldOnce) {
  place.make("20240101-1/meta.json", "somebody else's");
  RunRecorder recorder(place.runs(), start());
  recorder.event(event(101s, JobId{1}));
  recorder.finish({});
  recorder.close();
  EXPECT_THAT(recorder.take_notice(), Optional(HasSubstr("this run is not recorded: make")));
  EXPECT_EQ(recorder.take_notice(), std::nullopt);
  EXPECT_EQ(place.text("20240101-1/meta.json"), "somebody else's");
}

TEST_F(RunRecorderTest, ADirectoryOthersCanMoveIsRefused) {
  fs::permissions(place.dir, fs::perms::owner_all | fs::perms::others_all);
  RunRecorder recorder(place.runs(), start());
  recorder.close();
  EXPECT_THAT(recorder.take_notice(), Optional(HasSubstr("can be written by others")));
  EXPECT_FALSE(fs::exists(place.runs()));
}

TEST_F(RunRecorderTest, AFullDiskIsToldOnceAndStopsNothing) {
  struct rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small{.rlim_cur = 4000, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  {
    RunRecorder recorder(place.runs(), start());
    for (int i = 0; i < 1000; ++i) recorder.event(event(101s, JobId{1}));
    recorder.finish({});
    recorder.close();
    ::setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_THAT(recorder.take_notice(), Optional(HasSubstr("record is incomplete")));
    EXPECT_EQ(recorder.take_notice(), std::nullopt);
  }
  EXPECT_THAT(place.text("20240101-1/events.jsonl"), IsEmpty());  // no part of a line
  const auto run = find_run(place.runs(), "last");
  ASSERT_TRUE(run);
  EXPECT_EQ(run->state, RunState::finished);
  EXPECT_EQ(run->meta.left_out.unwritten, 1000U);
}

TEST_F(RunRecorderTest, OldRunsGoWhenANewOneBegins) {
  for (std::size_t i = 0; i < kRunsMax; ++i) place.make_run("2023-" + std::to_string(100 + i));
  fs::permissions(place.runs(), fs::perms::owner_all);
  {
    RunRecorder(place.runs(), start()).finish({});
  }
  const auto runs = list_runs(place.runs());
  ASSERT_TRUE(runs);
  EXPECT_THAT(*runs, SizeIs(kRunsMax));
  EXPECT_EQ(runs->front().id, "2023-101");
  EXPECT_EQ(runs->back().id, "20240101-1");
}

}  // namespace
}  // namespace plimsoll::report

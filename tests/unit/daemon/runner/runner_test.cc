// The life of an action, from a worker's call to its one answer.
#include "daemon/runner/runner.h"

#include "unit/daemon/runner/runner_scene.h"

namespace plimsoll::daemon {
namespace {

using policy::HoldCause;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

using RunnerTest = RunnerScene;

TEST_F(RunnerTest, AnActionFromItsCallToItsAnswer) {
  FakeCall call;
  run(call);
  ASSERT_NE(jobs.running(JobId{1}), nullptr);
  EXPECT_EQ(jobs.running(JobId{1})->prepared.request.spawn.cwd, build.string() + "/1/root");
  EXPECT_FALSE(call.answer);
  EXPECT_FALSE(runner().is_idle());
  exits(JobId{1}, 3);
  ASSERT_TRUE(call.answer);
  EXPECT_TRUE(call.answer->status.ok()) << call.answer->status.text;
  EXPECT_EQ(call.answer->exit_code, 3);
  EXPECT_THAT(text_of("1/server_logs/plimsoll.json"), HasSubstr("plimsoll.job"));
  EXPECT_THAT(text_of("1/server_logs/plimsoll.txt"), HasSubstr("started: it fits"));
  EXPECT_THAT(reporter.notices, ElementsAre(HasSubstr("action 1/root: ")));
  EXPECT_THAT(reporter.reports, SizeIs(1));
  EXPECT_TRUE(runner().is_idle());
}

TEST_F(RunnerTest, TheAnswerWaitsForTheGroupAndForTheReport) {
  FakeCall call;
  run(call);
  jobs.exits(JobId{1}, 0);
  files.turn();
  EXPECT_FALSE(call.answer) << "its group stands";
  files.hang(lane());
  jobs.remove_group(JobId{1});
  files.turn();
  EXPECT_FALSE(call.answer) << "its report is not written";
  files.answer_again(lane());
  EXPECT_TRUE(call.answer);
}

// Each listener has a service of its own: what they name must not meet.
TEST_F(RunnerTest, NoTwoCallsHaveOneName) { EXPECT_NE(runner().new_call(), runner().new_call()); }

TEST_F(RunnerTest, AnActionWaitsUntilTheLastOneOfItsInputRootHasItsAnswer) {
  FakeCall first, second;
  run(first);
  run(second);
  EXPECT_EQ(jobs.last(), JobId{1});
  files.hang(lane());
  jobs.exits(JobId{1}, 0);
  jobs.remove_group(JobId{1});
  EXPECT_EQ(jobs.last(), JobId{1});
  std::filesystem::remove(build / "1/stdout");
  std::filesystem::remove(build / "1/stderr");
  files.answer_again(lane());
  EXPECT_TRUE(first.answer);
  EXPECT_NE(jobs.running(JobId{2}), nullptr);
  exits(JobId{2}, 0);
  EXPECT_TRUE(second.status().ok()) << second.status().text;
}

TEST_F(RunnerTest, OneInputRootHasManyNames) {
  FakeCall first, second;
  run(first);
  ActionRequest same = action();
  same.input_root = "./1/../1/root";
  run(second, same);
  EXPECT_EQ(jobs.size(), 1u);
}

TEST_F(RunnerTest, CancelledWhileItWaitsForItsDirectory) {
  FakeCall first, second;
  run(first);
  const CallId waiting = run(second);
  runner().cancel(waiting);
  EXPECT_EQ(second.status().code, Code::internal);
  EXPECT_THAT(second.status().text, HasSubstr("cancelled before the action began"));
  exits(JobId{1}, 0);
  EXPECT_TRUE(first.status().ok());
  EXPECT_EQ(jobs.last(), JobId{1});
  EXPECT_TRUE(runner().is_idle());
}

TEST_F(RunnerTest, CancelledWhileItIsPlanned) {
  FakeCall call, next;
  files.hang(lane());
  const CallId id = run(call);
  runner().cancel(id);
  EXPECT_FALSE(call.answer) << "its files are looked at";
  run(next);
  files.answer_again(lane());
  EXPECT_THAT(call.status().text, HasSubstr("cancelled before the action began"));
  EXPECT_EQ(jobs.size(), 0u) << "the logs of the first are there";
  EXPECT_TRUE(next.answer);
}

TEST_F(RunnerTest, CancelledWhileItsDirectoriesAreCleaned) {
  settings.cleaner_command = {"/clean"};
  FakeCall call;
  const CallId id = run(call);
  runner().cancel(id);
  EXPECT_FALSE(call.answer);
  cleaning.ends();
  EXPECT_FALSE(call.answer) << "it is cleaned after it, too";
  cleaning.ends();
  EXPECT_THAT(call.status().text, HasSubstr("cancelled before the action began"));
  EXPECT_EQ(jobs.last(), JobId{});
}

TEST_F(RunnerTest, CancelledWhileItWaits) {
  jobs.hold(HoldCause::memory, "no memory");
  FakeCall call;
  const CallId id = run(call);
  ASSERT_TRUE(jobs.waits(JobId{1}));
  runner().cancel(id);
  files.turn();
  EXPECT_EQ(call.status().code, Code::unavailable);
  EXPECT_EQ(jobs.size(), 0u);
  EXPECT_EQ(text_of("1/server_logs/plimsoll.txt"), "") << "nobody looks there any more";
  clock.advance(60s);
}

TEST_F(RunnerTest, CancelledWhileItRuns) {
  FakeCall call;
  const CallId id = run(call);
  runner().cancel(id);
  runner().cancel(id);
  EXPECT_FALSE(call.answer) << "its processes live";
  reap();
  EXPECT_EQ(call.status().code, Code::cancelled);
  EXPECT_EQ(call.status().text, "the worker cancelled it");
  runner().cancel(id);
}

TEST_F(RunnerTest, CancelledWhileItIsReported) {
  FakeCall call;
  const CallId id = run(call);
  files.hang(lane());
  exits(JobId{1}, 7);
  runner().cancel(id);
  EXPECT_FALSE(call.answer);
  files.answer_again(lane());
  ASSERT_TRUE(call.status().ok()) << call.status().text;
  EXPECT_EQ(call.answer->exit_code, 7);
}

TEST_F(RunnerTest, WithoutMemoryItGivesUpAfterAWhile) {
  jobs.hold(HoldCause::memory, "it would not fit");
  FakeCall call;
  run(call);
  clock.advance(Runner::kHoldMax - 1ms);
  EXPECT_FALSE(call.answer);
  clock.advance(1ms);
  files.turn();
  EXPECT_EQ(call.status().code, Code::unavailable);
  EXPECT_THAT(call.status().text, HasSubstr("it waited for too long; it would not fit"));
}

TEST_F(RunnerTest, WithoutCoresItGoesOnWaitingUntilItsCallerMustBeTold) {
  jobs.hold(HoldCause::cores, "the cores are busy");
  FakeCall call;
  ActionRequest asked = action();
  asked.time_left = 60s;
  run(call, asked);
  clock.advance(60s - Runner::kHoldMargin - 1ms);
  EXPECT_FALSE(call.answer);
  clock.advance(1ms);
  files.turn();
  EXPECT_EQ(call.status().code, Code::unavailable);
  EXPECT_THAT(call.status().text, HasSubstr("the cores are busy"));
}

TEST_F(RunnerTest, WithoutADeadlineItWaitsForCoresForEver) {
  jobs.hold(HoldCause::cores, "the cores are busy");
  FakeCall call;
  run(call);
  clock.advance(3600s);
  EXPECT_FALSE(call.answer);
  jobs.let_go();
  exits(JobId{1}, 0);
  EXPECT_TRUE(call.status().ok());
}

// A tenth of a short one is left.
TEST_F(RunnerTest, AShortDeadlineIsShortenedByLittle) {
  jobs.hold(HoldCause::pace, "starts are paced");
  FakeCall call;
  ActionRequest asked = action();
  asked.time_left = 1s;
  run(call, asked);
  clock.advance(899ms);
  EXPECT_FALSE(call.answer);
  clock.advance(1ms);
  files.turn();
  EXPECT_TRUE(call.answer);
}

TEST_F(RunnerTest, WhatHasStartedIsNotGivenUp) {
  FakeCall call;
  ActionRequest asked = action();
  asked.time_left = 2s;
  run(call, asked);
  clock.advance(3600s);
  EXPECT_FALSE(call.answer);
  EXPECT_FALSE(jobs.running(JobId{1})->killed) << "its caller ends it, or nobody";
}

TEST_F(RunnerTest, DrainingSendsAwayThoseThatWait) {
  lay_out("2");
  FakeCall runs, behind, waits, late;
  run(runs);
  run(behind);
  jobs.hold(HoldCause::memory, "no memory");
  run(waits, action("2"));
  runner().drain();
  files.turn();
  EXPECT_EQ(behind.status().code, Code::unavailable);
  EXPECT_EQ(waits.status().code, Code::unavailable);
  EXPECT_THAT(waits.status().text, HasSubstr("the runner is shutting down; no memory"));
  EXPECT_FALSE(runs.answer);
  EXPECT_FALSE(runner().is_idle());
  run(late, action("2"));
  EXPECT_EQ(late.status().code, Code::unavailable);
  exits(JobId{1}, 0);
  EXPECT_TRUE(runs.status().ok());
  EXPECT_TRUE(runner().is_idle());
}

TEST_F(RunnerTest, DrainingEndsWhatIsPlanned) {
  FakeCall call;
  files.hang(lane());
  run(call);
  runner().drain();
  files.answer_again(lane());
  EXPECT_EQ(call.status().text, "The runner is shutting down");
  EXPECT_EQ(jobs.last(), JobId{});
}

TEST_F(RunnerTest, KillingAllEndsWhatRuns) {
  FakeCall call;
  run(call);
  runner().kill_all("the daemon was told to end at once");
  reap();
  EXPECT_EQ(call.status().code, Code::unavailable);
  EXPECT_EQ(call.status().text, "the daemon was told to end at once");
  EXPECT_TRUE(runner().is_idle());
}

TEST_F(RunnerTest, FilesThatHangAreAnsweredOnce) {
  FakeCall call, next;
  files.hang(lane());
  run(call);
  files.lose_patience();
  EXPECT_EQ(call.status().code, Code::unavailable);
  EXPECT_THAT(call.status().text, HasSubstr("have not answered"));
  run(next);
  EXPECT_THAT(next.status().text, HasSubstr("have not answered"));
  files.answer_again(lane());
  EXPECT_EQ(jobs.last(), JobId{});
  EXPECT_TRUE(runner().is_idle());
}

TEST_F(RunnerTest, WhereTheReportCanNotBeWrittenTheActionCounts) {
  FakeCall call;
  run(call);
  files.hang(lane());
  exits(JobId{1}, 0);
  files.lose_patience();
  EXPECT_TRUE(call.status().ok()) << call.status().text;
}

TEST_F(RunnerTest, MoreThanSoManyActionsAreRefused) {
  runner();
  std::vector<std::unique_ptr<FakeCall>> calls;
  for (std::size_t i = 0; i < Runner::kActionsMax; ++i) {
    calls.push_back(std::make_unique<FakeCall>());
    runner().run(runner().new_call(), action(), *calls.back());
  }
  FakeCall one_more;
  run(one_more);
  EXPECT_THAT(one_more.status().text, HasSubstr("too many actions"));
  runner().kill_all("the end");
  reap();
  EXPECT_TRUE(runner().is_idle());
  for (const auto& call : calls) EXPECT_TRUE(call->answer);
}

}  // namespace
}  // namespace plimsoll::daemon

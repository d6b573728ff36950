// What a runner does beside its actions: readiness checks and cleaning.
#include <algorithm>

#include "daemon/runner/runner.h"
#include "unit/daemon/runner/runner_scene.h"

namespace plimsoll::daemon {
namespace {

using policy::HoldCause;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using RunnerChecks = RunnerScene;

TEST_F(RunnerChecks, ADirectoryThatCanNotBeCleanedIsSaidOnce) {
  const std::string shared = build / "shared";
  std::filesystem::create_directories(shared);
  settings.cleaned_directories = {shared};
  files.hang(shared);
  FakeCall first, second;
  run(first);
  EXPECT_EQ(jobs.last(), JobId{}) << "it is being cleaned";
  files.lose_patience();
  ASSERT_NE(jobs.running(JobId{1}), nullptr) << "what others have left is no error of its own";
  EXPECT_THAT(reporter.notices, ElementsAre(HasSubstr(shared)));
  exits(JobId{1}, 0);
  EXPECT_TRUE(first.status().ok());
  lay_out("2");
  run(second, action("2"));
  exits(JobId{2}, 0);
  EXPECT_TRUE(second.status().ok());
  const auto said =
      std::count_if(reporter.notices.begin(), reporter.notices.end(),
                    [&](const auto& line) { return line.find(shared) != std::string::npos; });
  EXPECT_EQ(said, 1);
}

TEST_F(RunnerChecks, WhatActionsLeaveIsCleanedBeforeAndAfterThem) {
  settings.cleaned_directories = {build / "shared"};
  std::filesystem::create_directories(build / "shared");
  file("shared/old");
  FakeCall call;
  run(call);
  EXPECT_FALSE(std::filesystem::exists(build / "shared/old"));
  file("shared/new");
  exits(JobId{1}, 0);
  EXPECT_FALSE(std::filesystem::exists(build / "shared/new"));
}

TEST_F(RunnerChecks, WhereTheCommandThatCleansFailsNothingRunsUntilItHasSucceeded) {
  settings.cleaner_command = {"/clean"};
  FakeCall first, second;
  run(first);
  cleaning.ends({Code::internal, "Failed to run cleaning command: exit status 1"});
  EXPECT_EQ(first.status().text, "Failed to run cleaning command: exit status 1");
  run(second);
  EXPECT_EQ(cleaning.runs, 2u);
  cleaning.ends();
  files.turn();
  EXPECT_NE(jobs.running(JobId{1}), nullptr);
  exits(JobId{1}, 0);
  EXPECT_FALSE(second.answer);
  cleaning.ends({Code::internal, "broken"});
  EXPECT_EQ(second.status().text, "broken");
}

TEST_F(RunnerChecks, AFullMachineTakesNoNewWork) {
  jobs.hold(HoldCause::memory, "no memory");
  FakeCall full, paused, used, free;
  check(full);
  EXPECT_EQ(full.readiness->code, Code::unavailable);
  EXPECT_EQ(full.readiness->text, "The machine is full: no memory");
  jobs.let_go();
  jobs.seen.line = {100};
  jobs.seen.running = jobs.seen.frozen = 2;
  check(paused);
  EXPECT_EQ(paused.readiness->text, "The machine is full: 2 of its jobs are paused");
  jobs.seen.frozen = 0;
  jobs.seen.used = {98};
  check(used);
  EXPECT_THAT(used.readiness->text, HasSubstr("its jobs use"));
  jobs.seen.used = {97};
  check(free);
  EXPECT_TRUE(free.readiness->ok()) << free.readiness->text;
  EXPECT_TRUE(runner().is_idle());
}

TEST_F(RunnerChecks, BusyCoresKeepAWorkerAwayOnceAnActionHasWaited) {
  jobs.hold(HoldCause::cores, "the cores are busy");
  FakeCall waits, soon, later;
  run(waits);
  check(soon);
  EXPECT_TRUE(soon.readiness->ok());
  clock.advance(Runner::kFullWait);
  check(later);
  EXPECT_EQ(later.readiness->text, "The machine is full: the cores are busy");
}

TEST_F(RunnerChecks, ACheckThatHangsIsCountedUntilItsAnswer) {
  settings.readiness_paths = {"/needed"};
  files.hang("/needed");
  FakeCall call;
  check(call);
  EXPECT_FALSE(runner().is_idle());
  files.lose_patience();
  EXPECT_EQ(call.readiness->code, Code::unavailable);
  EXPECT_TRUE(runner().is_idle());
}

TEST_F(RunnerChecks, WhatFailsWhileAFileIsMissingMayBeTriedAgain) {
  file("needed");
  settings.readiness_paths = {build / "needed"};
  FakeCall call;
  run(call);
  std::filesystem::remove(build / "needed");
  exits(JobId{1}, 1);
  EXPECT_EQ(call.status().code, Code::unavailable);
  EXPECT_THAT(call.status().text, HasSubstr("disappeared during execution"));
}

}  // namespace
}  // namespace plimsoll::daemon

#include "supervisor/light/job_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace plimsoll::supervisor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kLauncher = 100, kProcess = 101, kForeign = 102, kOther = 201, kRunsLauncher = 300,
              kRunsProcess = 301;

const ExternalEnd kDone{.outcome = policy::Outcome::exited, .exit_code = 0};
const ExternalEnd kKilled{.outcome = policy::Outcome::signalled, .signal = SIGKILL};

std::string number(JobId id) { return std::to_string(static_cast<std::uint64_t>(id)); }

// Job 7 with a launcher and the process of its command, job 8, and a process of nobody's; a
// scheduler that keeps a list.
struct JobCommandsTest : ::testing::Test, JobCommandsHost, ExternalListener {
  JobCommandsTest() {
    seventh.id = JobId{7};
    seventh.name = "seven";
    seventh.priority = 3;
    eighth.id = JobId{8};
  }
  JobId next_id() override { return JobId{++last}; }
  Result<const policy::JobSpec*> job_of(int pid) override {
    if (pid == kForeign) return fail(std::errc::permission_denied, "not part of a job");
    if (pid >= 300) return nullptr;
    return pid < 200 ? &seventh : &eighth;
  }
  bool passes(const policy::JobSpec& command, int /*pid*/) override {
    return command.job_class == "small";
  }
  void place(JobId command, int pid) override {
    asked.push_back("place " + number(command) + " " + std::to_string(pid));
  }
  void enter(const policy::JobSpec& command) override {
    asked.push_back("enter " + number(command.id));
    entered = command;
    if (starts_at_once) commands.started(command.id);
  }
  void withdraw(JobId command, const std::string&) override {
    asked.push_back("withdraw " + number(command));
    commands.on_job_over({.job = command, .end = {}, .requeue = {}, .reason = "withdrawn"});
  }
  void kill(JobId command, const std::string& reason) override {
    asked.push_back("kill " + number(command) + ": " + reason);
  }
  bool is_ending(JobId command) override {
    asked.push_back("is ending " + number(command));
    if (ends_within) over(command, *ends_within);
    return ends;
  }
  void freeze(JobId command) override { asked.push_back("freeze " + number(command)); }
  void discard(JobId command) override { asked.push_back("discard " + number(command)); }

  void on_admit(const std::string&, unsigned attempt, const std::string&) override {
    told.push_back("admit " + std::to_string(attempt));
  }
  void on_hold(const std::string&, policy::HoldCause, const std::string& why) override {
    told.push_back("hold: " + why);
  }
  void on_pause(const std::string&, const std::string&) override {}
  void on_resume(const std::string&, const std::string&) override {}
  void on_cancel(const std::string&, policy::Outcome cause, const std::string&,
                 Again again) override {
    told.push_back("cancel " + std::string(policy::name_of(cause)) +
                   (again == Again::later ? ", again" : ""));
  }
  void on_left(const std::string&, Again again, const std::string& why) override {
    told.push_back(again == Again::later ? "again" : "left " + why);
  }

  std::vector<std::string> take(std::vector<std::string>& list) { return std::exchange(list, {}); }
  Result<void> enters(int process = kProcess) {
    return commands.enter(client, {.name = "x",
                                   .restartable = true,
                                   .place = ProcessPlace{process},
                                   .command = {"/usr/bin/gcc", "-c"}});
  }
  // Placed and entered, and admitted.
  void waits() {
    EXPECT_TRUE(enters());
    commands.placed(JobId{last}, {});
  }
  void runs() {
    waits();
    commands.started(JobId{last});
    take(asked);
    take(told);
  }
  void decided(policy::EventKind kind, JobId command) {
    commands.on_event({.at = {}, .kind = kind, .job = command, .reason = "short"});
  }
  void over(JobId command, policy::Outcome how) {
    commands.on_job_over({.job = command,
                          .end = policy::AttemptEnd{.outcome = how},
                          .requeue = {},
                          .reason = "over"});
    commands.gone(command);
  }

  policy::JobSpec seventh, eighth;
  policy::JobSpec entered;
  std::uint64_t last = 20;
  bool starts_at_once = false;
  bool ends = false;
  std::optional<policy::Outcome> ends_within;  // of a question whether it ends
  std::vector<std::string> asked, told;
  JobCommands commands{*this, 100};
  ClientId client = commands.open({.pid = kLauncher}, *this);
};

TEST_F(JobCommandsTest, AreJobsBesideTheirs) {
  EXPECT_TRUE(enters());
  EXPECT_THAT(take(asked), ElementsAre("place 21 101"));
  commands.placed(JobId{21}, {});
  EXPECT_THAT(take(asked), ElementsAre("enter 21", "freeze 21"));
  EXPECT_EQ(entered.part_of, JobId{7});
  EXPECT_EQ(entered.name, "seven/gcc");
  EXPECT_EQ(entered.priority, 3);
  EXPECT_TRUE(entered.restartable);
  EXPECT_EQ(entered.restarts, 0U);
  commands.on_event({.at = {},
                     .kind = policy::EventKind::held,
                     .job = JobId{21},
                     .reason = "no room",
                     .hold = policy::HoldCause::memory});
  commands.started(JobId{21});
  EXPECT_THAT(take(told), ElementsAre("hold: no room", "admit 1"));
  EXPECT_TRUE(commands.leave(client, "x", kDone));
  EXPECT_THAT(take(told), ElementsAre("left "));
  over(JobId{21}, policy::Outcome::exited);
  commands.close(client);
  EXPECT_THAT(take(asked), IsEmpty());
  EXPECT_EQ(commands.spec_of(JobId{21}), nullptr);
}

TEST_F(JobCommandsTest, OfNobodyOrOfAnotherJobAreRefused) {
  EXPECT_THAT(enters(kForeign).error().message(), HasSubstr("not part of a job"));
  const ClientId second = commands.open({.pid = kLauncher}, *this);
  client = second;
  EXPECT_THAT(enters(kOther).error().message(), HasSubstr("another job"));
  client = commands.open({.pid = kForeign}, *this);
  EXPECT_FALSE(enters());
  EXPECT_THAT(asked, IsEmpty());
}

TEST_F(JobCommandsTest, ThatNoJobHasStartedAreJobsOfTheirOwn) {
  client = commands.open({.pid = kRunsLauncher}, *this);
  EXPECT_FALSE(enters());
  client = commands.open({.pid = kRunsLauncher}, *this);
  EXPECT_TRUE(enters(kRunsProcess));
  commands.placed(JobId{21}, {});
  EXPECT_EQ(entered.part_of, std::nullopt);
  EXPECT_EQ(entered.name, "21");
  EXPECT_THAT(take(asked), ElementsAre("place 21 301", "enter 21", "freeze 21"));
  commands.end_all("the run is over");
  EXPECT_THAT(take(asked), ElementsAre("withdraw 21", "discard 21"));
  EXPECT_THAT(take(told), ElementsAre("left withdrawn"));
  client = commands.open({.pid = kRunsLauncher}, *this);
  EXPECT_TRUE(enters(kRunsProcess));
  commands.placed(JobId{22}, {});
  commands.started(JobId{22});
  take(asked);
  commands.end_all("the run is over");
  EXPECT_THAT(asked, ElementsAre("kill 22: the run is over"));
}

TEST_F(JobCommandsTest, WhatNeedsNoGovernorIsRefused) {
  const auto refused = commands.enter(
      client,
      {.name = "x", .job_class = "small", .place = ProcessPlace{kProcess}, .command = {"ls"}});
  EXPECT_EQ(refused.error().code, std::errc::operation_canceled);
  EXPECT_THAT(asked, IsEmpty());
  commands.close(client);
}

TEST_F(JobCommandsTest, OneConnectionIsOneCommand) {
  runs();
  EXPECT_FALSE(enters());
  EXPECT_FALSE(commands.watch(client, "x", ProcessPlace{kProcess}));
}

TEST_F(JobCommandsTest, WhatCannotBeMovedGoesOnInItsJob) {
  EXPECT_TRUE(enters());
  commands.placed(JobId{21}, fail("full"));
  EXPECT_THAT(told, ElementsAre("left full"));
  EXPECT_THAT(take(asked), ElementsAre("place 21 101"));
}

TEST_F(JobCommandsTest, EndWithTheirLauncher) {
  runs();
  commands.close(client);
  EXPECT_THAT(take(asked), ElementsAre("kill 21: its launcher has ended"));
  client = commands.open({.pid = kLauncher}, *this);
  waits();
  take(asked);
  commands.close(client);
  EXPECT_THAT(take(asked), ElementsAre("withdraw 22", "discard 22"));
  client = commands.open({.pid = kLauncher}, *this);
  EXPECT_TRUE(enters());
  commands.close(client);
  take(asked);
  commands.placed(JobId{23}, {});
  EXPECT_THAT(take(asked), ElementsAre("discard 23"));
}

TEST_F(JobCommandsTest, EndWithTheirJob) {
  runs();
  commands.end_those_of(JobId{8});
  EXPECT_THAT(take(asked), IsEmpty());
  commands.end_those_of(JobId{7});
  EXPECT_THAT(take(asked), ElementsAre("kill 21: its job has ended"));
}

// What a process leaves behind is part of the job: it ends with that, not with the launcher.
TEST_F(JobCommandsTest, WhatTheyLeaveBehindLivesOn) {
  runs();
  EXPECT_TRUE(commands.leave(client, "x", kDone));
  commands.close(client);
  EXPECT_THAT(take(asked), IsEmpty());
  commands.end_those_of(JobId{7});
  EXPECT_THAT(take(asked), ElementsAre("kill 21: its job has ended"));
}

TEST_F(JobCommandsTest, ThatAreEvictedComeAgain) {
  runs();
  for (unsigned times = 1; times <= policy::kLostAttemptsMax; ++times) {
    const JobId lost{last};
    decided(policy::EventKind::evicted, lost);
    EXPECT_THAT(take(told), ElementsAre("cancel evicted, again"));
    EXPECT_TRUE(commands.leave(client, "x", kDone));
    over(lost, policy::Outcome::evicted);
    EXPECT_THAT(take(told), ElementsAre("again"));
    EXPECT_TRUE(commands.watch(client, "x", ProcessPlace{kProcess}));
    commands.placed(JobId{last}, {});
    EXPECT_EQ(entered.lost, times);
    commands.started(JobId{last});
    EXPECT_THAT(take(told), ElementsAre("admit " + std::to_string(times + 1)));
  }
  EXPECT_FALSE(entered.restartable);
  decided(policy::EventKind::evicted, JobId{last});
  EXPECT_THAT(take(told), ElementsAre("cancel evicted"));
}

// Its group may last longer than its launcher takes to start another process.
TEST_F(JobCommandsTest, AnotherAttemptMayComeBeforeTheLastIsGone) {
  runs();
  decided(policy::EventKind::evicted, JobId{21});
  take(told);
  EXPECT_TRUE(commands.leave(client, "x", kDone));
  EXPECT_TRUE(commands.watch(client, "x", ProcessPlace{kProcess}));
  over(JobId{21}, policy::Outcome::evicted);
  EXPECT_THAT(take(told), IsEmpty());
  commands.placed(JobId{22}, {});
  commands.started(JobId{22});
  EXPECT_THAT(take(told), ElementsAre("admit 2"));
  commands.close(client);
  EXPECT_THAT(asked.back(), "kill 22: its launcher has ended");
}

// It need not stand still in between.
TEST_F(JobCommandsTest, WhatStartsAtOnceIsNotFrozen) {
  starts_at_once = true;
  waits();
  EXPECT_THAT(take(asked), ElementsAre("place 21 101", "enter 21"));
  EXPECT_THAT(take(told), ElementsAre("admit 1"));
}

// Its launcher knows only that it has ended.
TEST_F(JobCommandsTest, ThatTheKernelKillsComeAgain) {
  runs();
  ends = true;
  EXPECT_TRUE(commands.leave(client, "x", kKilled));
  EXPECT_THAT(take(told), IsEmpty());
  over(JobId{21}, policy::Outcome::machine_oom);
  EXPECT_THAT(take(told), ElementsAre("cancel machine_oom, again", "again"));
  EXPECT_TRUE(commands.watch(client, "x", ProcessPlace{kProcess}));
  commands.placed(JobId{22}, {});
  EXPECT_EQ(entered.lost, 1U);
  commands.started(JobId{22});
  take(told);
  ends_within = policy::Outcome::machine_oom;
  EXPECT_TRUE(commands.leave(client, "x", kKilled));
  EXPECT_THAT(take(told), ElementsAre("cancel machine_oom, again", "again"));
}

TEST_F(JobCommandsTest, ThatTheKernelKillsMayBeOverBeforeTheirLauncherSaysSo) {
  runs();
  over(JobId{21}, policy::Outcome::machine_oom);
  EXPECT_THAT(take(told), ElementsAre("cancel machine_oom, again", "again"));
  EXPECT_TRUE(commands.leave(client, "x", kKilled));
  EXPECT_THAT(take(told), IsEmpty());
  EXPECT_TRUE(commands.watch(client, "x", ProcessPlace{kProcess}));
}

TEST_F(JobCommandsTest, ThatFailByThemselvesAreOver) {
  runs();
  EXPECT_TRUE(commands.leave(client, "x", kKilled));
  EXPECT_THAT(take(asked), ElementsAre("is ending 21"));
  EXPECT_THAT(take(told), ElementsAre("left "));
  client = commands.open({.pid = kLauncher}, *this);
  runs();
  ends = true;
  EXPECT_TRUE(commands.leave(client, "x", kKilled));
  EXPECT_THAT(take(told), IsEmpty());
  over(JobId{22}, policy::Outcome::signalled);
  EXPECT_THAT(take(told), ElementsAre("left "));
  client = commands.open({.pid = kLauncher}, *this);
  runs();
  over(JobId{23}, policy::Outcome::signalled);
  EXPECT_TRUE(commands.leave(client, "x", kKilled));
  EXPECT_THAT(take(told), ElementsAre("left "));
}

TEST_F(JobCommandsTest, PastTheLineIsTheEnd) {
  runs();
  decided(policy::EventKind::failed, JobId{21});
  EXPECT_THAT(take(told), ElementsAre("cancel over_line"));
  EXPECT_TRUE(commands.leave(client, "x", kDone));
  EXPECT_FALSE(commands.watch(client, "x", ProcessPlace{kProcess}));
}

}  // namespace
}  // namespace plimsoll::supervisor

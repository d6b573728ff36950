#include "daemon/runner/runner_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <buildbarn/resourceusage/resourceusage.pb.h>
#include "daemon/runner/runner_messages.h"

namespace plimsoll::daemon {
namespace {

using namespace std::chrono_literals;
using policy::Outcome;
using testing::HasSubstr;

supervisor::AttemptResult ended(Outcome outcome, std::optional<int> exit_code,
                                std::optional<int> signal = {}) {
  supervisor::AttemptResult result;
  result.end = {.outcome = outcome, .exit_code = exit_code, .signal = signal};
  result.reason = "the reason";
  return result;
}

TEST(RunnerAnswer, ExitCodesPassThrough) {
  for (const int code : {0, 1, 137, 255}) {
    const RunAnswer answer = answer_of(ended(Outcome::exited, code));
    EXPECT_TRUE(answer.status.ok());
    EXPECT_EQ(answer.exit_code, code);
    EXPECT_EQ(answer.posix.termination_signal, "");
  }
}

TEST(RunnerAnswer, ASignalIsNamedOnlyIfItHasAName) {
  const std::pair<int, const char*> cases[] = {
      {SIGKILL, "KILL"}, {SIGSEGV, "SEGV"}, {SIGABRT, "ABRT"}, {SIGIO, "IO"}, {SIGRTMIN + 3, ""}};
  for (const auto& [signal, name] : cases) {
    const RunAnswer answer = answer_of(ended(Outcome::signalled, {}, signal));
    EXPECT_TRUE(answer.status.ok());
    EXPECT_EQ(answer.exit_code, -1);
    EXPECT_EQ(answer.posix.termination_signal, name);
  }
}

// The limit that it reached is its own affair, and its result stands, even a success.
TEST(RunnerAnswer, OverItsOwnLimitIsTheActionsResult) {
  EXPECT_EQ(answer_of(ended(Outcome::over_limit, 0)).exit_code, 0);
  const RunAnswer killed = answer_of(ended(Outcome::over_limit, {}, SIGKILL));
  EXPECT_TRUE(killed.status.ok());
  EXPECT_EQ(killed.exit_code, -1);
  EXPECT_EQ(killed.posix.termination_signal, "KILL");
}

TEST(RunnerAnswer, WhatTheMachineDidIsAnotherTrysAffair) {
  EXPECT_EQ(
      answer_of(ended(Outcome::machine_oom, 0)).status,
      (Status{Code::unavailable,
              "An action process was OOM-killed without the action reaching its cgroup memory "
              "limit"}));
  for (const Outcome outcome : {Outcome::evicted, Outcome::over_line}) {
    const Status status = answer_of(ended(outcome, {}, SIGKILL)).status;
    EXPECT_EQ(status.code, Code::unavailable);
    EXPECT_THAT(status.text, HasSubstr("the reason"));
  }
}

TEST(RunnerAnswer, AStartThatFailedGoesByItsErrno) {
  supervisor::AttemptResult result = ended(Outcome::failed_to_start, {});
  EXPECT_EQ(answer_of(result).status,
            (Status{Code::internal, "Failed to start process: the reason"}));
  result.failure = {
      .id = {}, .step = guardian::SpawnStep::exec, .code = std::errc::executable_format_error};
  EXPECT_EQ(answer_of(result).status,
            (Status{Code::invalid_argument, "Failed to start process: exec format error"}));
}

TEST(RunnerMessages, UsageComesInOrder) {
  supervisor::AttemptResult result = ended(Outcome::signalled, {}, SIGTERM);
  rusage usage{};
  usage.ru_utime = {.tv_sec = 1, .tv_usec = 250'000};
  usage.ru_maxrss = 3;
  usage.ru_majflt = 4;
  usage.ru_nivcsw = 5;
  result.kernel_usage = usage;
  counters::MemoryUsage& memory = result.usage.totals.memory;
  memory.peak = Bytes{4096};
  memory.events.oom_kill = 2;
  memory.pressure.emplace();
  memory.pressure->some = counters::PressureLine{.total = 1500ms};
  buildbarn::runner::RunResponse response;
  fill(response, answer_of(result));
  EXPECT_EQ(response.exit_code(), -1);
  ASSERT_EQ(response.resource_usage_size(), 2);
  EXPECT_EQ(response.resource_usage(0).type_url(),
            "type.googleapis.com/buildbarn.resourceusage.POSIXResourceUsage");
  buildbarn::resourceusage::POSIXResourceUsage posix;
  ASSERT_TRUE(response.resource_usage(0).UnpackTo(&posix));
  EXPECT_EQ(posix.user_time().seconds(), 1);
  EXPECT_EQ(posix.user_time().nanos(), 250'000'000);
  EXPECT_EQ(posix.maximum_resident_set_size(), 3072);
  EXPECT_EQ(posix.page_faults(), 4);
  EXPECT_EQ(posix.involuntary_context_switches(), 5);
  EXPECT_EQ(posix.termination_signal(), "TERM");
  buildbarn::resourceusage::CgroupResourceUsage group;
  ASSERT_TRUE(response.resource_usage(1).UnpackTo(&group));
  EXPECT_EQ(group.memory_peak(), 4096);
  EXPECT_EQ(group.memory_events_oom_kill(), 2);
  EXPECT_EQ(group.memory_events_oom(), 0);
  EXPECT_EQ(group.memory_pressure_some_total().seconds(), 1);
  EXPECT_EQ(group.memory_pressure_some_total().nanos(), 500'000'000);
  EXPECT_EQ(group.io_pressure_full_total().seconds(), 0);
}

// Clients of a stock runner may count on exactly one.
TEST(RunnerMessages, TheGroupsUsageIsLeftOutWhereNobodyAskedForIt) {
  RunAnswer answer = answer_of(ended(Outcome::exited, 3));
  answer.cgroup.reset();
  buildbarn::runner::RunResponse response;
  fill(response, answer);
  EXPECT_EQ(response.exit_code(), 3);
  EXPECT_EQ(response.resource_usage_size(), 1);
}

}  // namespace
}  // namespace plimsoll::daemon

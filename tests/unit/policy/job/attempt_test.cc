#include "policy/job/attempt.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace plimsoll::policy {
namespace {

TEST(Succeeded, OnlyIfItExitedByItselfWithZero) {
  EXPECT_TRUE(succeeded(Outcome::exited, 0));
  EXPECT_FALSE(succeeded(Outcome::exited, 1));
  EXPECT_FALSE(succeeded(Outcome::exited, std::nullopt));
  for (const Outcome outcome : {Outcome::signalled, Outcome::over_limit, Outcome::over_line,
                                Outcome::evicted, Outcome::machine_oom, Outcome::timed_out,
                                Outcome::cancelled, Outcome::failed_to_start, Outcome::skipped}) {
    EXPECT_FALSE(succeeded(outcome, 0)) << name_of(outcome);
  }
}

TEST(WasNeverExecuted, IfItFailedToStartOrAShellSaysSo) {
  EXPECT_TRUE(was_never_executed({.outcome = Outcome::failed_to_start}));
  EXPECT_TRUE(was_never_executed({.outcome = Outcome::exited, .exit_code = 126}));
  EXPECT_TRUE(was_never_executed({.outcome = Outcome::exited, .exit_code = 127}));
  EXPECT_FALSE(was_never_executed({.outcome = Outcome::exited, .exit_code = 1}));
  EXPECT_FALSE(was_never_executed({.outcome = Outcome::timed_out, .exit_code = 127}));
}

TEST(BatchExitStatus, CountsTo100) {
  EXPECT_EQ(batch_exit_status(0), 0);
  EXPECT_EQ(batch_exit_status(1), 1);
  EXPECT_EQ(batch_exit_status(100), 100);
  EXPECT_EQ(batch_exit_status(101), 101);
  EXPECT_EQ(batch_exit_status(std::size_t{1} << 40), 101);
}

TEST(SignalName, IsWithoutSig) {
  EXPECT_EQ(signal_name(SIGKILL), "KILL");
  EXPECT_EQ(signal_name(SIGSEGV), "SEGV");
  EXPECT_EQ(signal_name(SIGRTMIN), "RTMIN");
  EXPECT_EQ(signal_name(SIGRTMIN + 3), "RTMIN+3");
  EXPECT_EQ(signal_name(0), "0");
  EXPECT_EQ(signal_name(4711), "4711");
}

TEST(Describe, HasWordsForEveryOutcome) {
  EXPECT_EQ(describe({.outcome = Outcome::exited, .exit_code = 2}), "exited with code 2");
  EXPECT_EQ(describe({.outcome = Outcome::signalled, .signal = SIGSEGV}),
            "was ended by signal SEGV");
  for (int i = 0; i <= static_cast<int>(Outcome::skipped); ++i) {
    EXPECT_NE(describe({.outcome = static_cast<Outcome>(i)}), "") << i;
  }
}

}  // namespace
}  // namespace plimsoll::policy

#include "cli/command/exit_status.h"

#include <gtest/gtest.h>

namespace plimsoll::cli {
namespace {

using policy::AttemptEnd;
using policy::Outcome;

int status(const char* halt, policy::Tally tally, const AttemptEnd& last) {
  return exit_status_of(
      policy::Halted{.policy = *policy::parse_halt(halt), .tally = tally, .last = last});
}

AttemptEnd exited(int code) { return {.outcome = Outcome::exited, .exit_code = code}; }

// What GNU parallel (20221122) exits with.
TEST(ExitStatusOfAHalt, IsThatOfGnuParallel) {
  EXPECT_EQ(status("now,fail=1", {.failed = 1, .succeeded = 1, .entered = 3}, exited(3)), 3);
  EXPECT_EQ(status("now,success=1", {.failed = 1, .succeeded = 1, .entered = 3}, exited(0)), 0);
  EXPECT_EQ(status("now,success=50%", {.failed = 2, .succeeded = 2, .entered = 4}, exited(0)), 0);
  EXPECT_EQ(status("now,done=1", {.failed = 1, .entered = 3}, exited(7)), 7);
  EXPECT_EQ(status("now,done=1", {.succeeded = 1, .entered = 3}, exited(0)), 0);
  EXPECT_EQ(status("now,done=2", {.failed = 1, .succeeded = 1, .entered = 3}, exited(0)), 1);
  EXPECT_EQ(status("now,fail=2", {.failed = 2, .succeeded = 1, .entered = 4}, exited(2)), 2);
  EXPECT_EQ(status("soon,fail=30%", {.failed = 2, .entered = 5}, exited(2)), 40);
  EXPECT_EQ(status("soon,fail=5%", {.failed = 1, .succeeded = 1, .entered = 4}, exited(9)), 25);
  EXPECT_EQ(status("now,done=100%", {.failed = 2, .entered = 2}, exited(5)), 100);
  EXPECT_EQ(status("now,fail=200", {.failed = 200, .entered = 300}, exited(5)), 101);
}

TEST(ExitStatusOfAHalt, OfOneJobIsAsOfRun) {
  const policy::Tally one{.failed = 1, .succeeded = 0, .entered = 3};
  EXPECT_EQ(status("now,fail=1", one, {.outcome = Outcome::signalled, .signal = 9}), 137);
  EXPECT_EQ(status("now,fail=1", one, {.outcome = Outcome::over_limit, .signal = 9}), 137);
  EXPECT_EQ(status("now,fail=1", one, {.outcome = Outcome::timed_out, .signal = 15}), 124);
  EXPECT_EQ(status("now,fail=1", one, {.outcome = Outcome::machine_oom}), 75);
  EXPECT_EQ(status("now,fail=1", one, {.outcome = Outcome::failed_to_start}), 127);
}

}  // namespace
}  // namespace plimsoll::cli

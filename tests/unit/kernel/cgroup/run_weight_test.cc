#include "kernel/cgroup/run_weight.h"

#include <gtest/gtest.h>

#include "kernel/cgroup/limits.h"

namespace plimsoll::cgroup {
namespace {

CallerShare at_nice(int nice) { return {.nice = nice, .session_nice = {}}; }

TEST(CallerShare, IsWhatTheKernelGivesANiceValue) {
  EXPECT_EQ(at_nice(0).factor(), 1);
  EXPECT_EQ(at_nice(19).factor(), 15.0 / 1024);
  EXPECT_EQ(at_nice(-20).factor(), 88'761.0 / 1024);
  EXPECT_EQ(at_nice(99).factor(), at_nice(19).factor());
  for (int nice = -20; nice < 19; ++nice) {
    const double step = at_nice(nice).factor() / at_nice(nice + 1).factor();
    EXPECT_NEAR(step, 1.25, 0.06) << nice;
  }
}

TEST(CallerShare, OfANicedSessionIsThatOfTheSession) {
  EXPECT_EQ((CallerShare{.nice = 0, .session_nice = 10}).factor(), at_nice(10).factor());
  EXPECT_DOUBLE_EQ((CallerShare{.nice = 5, .session_nice = 10}).factor(),
                   at_nice(5).factor() * at_nice(10).factor());
}

TEST(RunWeight, IsTheKernelsDefaultWhereNobodyAsksForAnother) {
  EXPECT_EQ(RunWeight{}.of_cpu(at_nice(0)), kWeightDefault);
  EXPECT_EQ(RunWeight{}.of_io(), kWeightDefault);
}

TEST(RunWeight, MultipliesWhatIsAskedForWithWhatTheCallerHas) {
  const RunWeight weight{.run = 50, .cpu = 400, .io = 10};
  EXPECT_DOUBLE_EQ(weight.of_cpu(at_nice(0)), 200);
  EXPECT_DOUBLE_EQ(weight.of_io(), 5);
  EXPECT_DOUBLE_EQ(weight.of_cpu(at_nice(10)), 200 * 110.0 / 1024);
  EXPECT_DOUBLE_EQ((RunWeight{.run = 1, .cpu = {}, .io = {}}).of_io(), 1);
}

TEST(RunWeight, OfANiceValueAloneIsItsOwnNumberOnV1) {
  EXPECT_EQ(cpu_shares_of(RunWeight{}.of_cpu(at_nice(19))), 15u);
  EXPECT_EQ(cpu_shares_of(RunWeight{}.of_cpu(at_nice(10))), 110u);
  EXPECT_EQ(cpu_shares_of(RunWeight{}.of_cpu(at_nice(-20))), 88'761u);
  EXPECT_EQ(cpu_shares_of(0), 2u);
  EXPECT_EQ(cpu_shares_of(1e9), 262'144u);
}

}  // namespace
}  // namespace plimsoll::cgroup

#include "policy/job/oom.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::policy {
namespace {

using namespace plimsoll::literals;
using ::testing::HasSubstr;

OomEvidence killed(std::uint64_t own_ooms, std::uint64_t pool, std::uint64_t ancestor) {
  return {
      .kills = 1,
      .own_ooms = own_ooms,
      .machine = 16_GiB,
      .own_limit = 100_MiB,
      .own_peak = 99_MiB,
      .above = {{.level = OomLevel::pool, .name = "/run/pool", .ooms = pool, .limit = 2_GiB},
                {.level = OomLevel::ancestor, .name = "/run", .ooms = 0},
                {.level = OomLevel::ancestor, .name = "/ci", .ooms = ancestor, .limit = 8_GiB}}};
}

TEST(Oom, NobodyIsBlamedWhereTheKernelKilledNobody) {
  OomEvidence evidence = killed(1, 1, 1);
  evidence.kills = 0;  // another job's
  EXPECT_FALSE(blame(evidence));
}

TEST(Oom, TheJobThatBrokeItsOwnLimitComesFirst) {
  const auto verdict = blame(killed(1, 1, 1));
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->level, OomLevel::own);
  EXPECT_EQ(verdict->limit, 100_MiB);
  EXPECT_THAT(describe(*verdict), HasSubstr("needed more than its memory limit of 100 MiB"));
  EXPECT_THAT(describe(*verdict), HasSubstr("peak 99"));
}

TEST(Oom, ThenThePool) {
  const auto verdict = blame(killed(0, 2, 1));
  EXPECT_EQ(verdict->level, OomLevel::pool);
  EXPECT_EQ(verdict->group, "/run/pool");
  EXPECT_EQ(verdict->limit, 2_GiB);
  EXPECT_THAT(describe(*verdict), HasSubstr("the limit of 2.00 GiB; the job had used up to 99"));
}

TEST(Oom, ThenTheNearestGroupAbove) {
  const auto verdict = blame(killed(0, 0, 1));
  EXPECT_EQ(verdict->level, OomLevel::ancestor);
  EXPECT_THAT(describe(*verdict), HasSubstr("the group /ci, which had reached its limit of 8"));
}

TEST(Oom, WhereNoLimitWasHitItWasTheMachine) {
  const auto verdict = blame(killed(0, 0, 0));
  EXPECT_EQ(verdict->level, OomLevel::machine);
  EXPECT_EQ(verdict->limit, 16_GiB);
  EXPECT_THAT(describe(*verdict), HasSubstr("the whole machine was out of memory and has 16"));
  EXPECT_THAT(describe(*verdict), HasSubstr("; the job had used up to 99"));
}

TEST(Oom, WhatCantBeSeenIsNotCalledTheMachine) {
  OomEvidence evidence = killed(0, 0, 0);
  evidence.sees_all = false;
  const auto verdict = blame(evidence);
  EXPECT_EQ(verdict->level, OomLevel::ancestor);
  EXPECT_THAT(describe(*verdict), HasSubstr("is not visible here"));
}

}  // namespace
}  // namespace plimsoll::policy

#include "policy/scheduler/class_caps.h"

#include <gtest/gtest.h>

namespace plimsoll::policy {
namespace {

constexpr Tenant kAlice{1}, kBob{2};

TEST(ClassCaps, AClassWithoutACapHasAPlaceForEverybody) {
  ClassCaps caps({{"ld", 1}});
  for (unsigned job = 1; job < 100; ++job) EXPECT_TRUE(caps.take("cc", {.job = JobId{job}}));
  EXPECT_FALSE(caps.of("cc"));
  EXPECT_EQ(caps.of("ld"), 1U);
  EXPECT_EQ(caps.leave("cc", JobId{1}), std::nullopt);
}

TEST(ClassCaps, WhoHasNoPlaceStandsAsideUntilOneIsFree) {
  ClassCaps caps({{"ld", 2}});
  EXPECT_TRUE(caps.take("ld", {.job = JobId{1}}));
  EXPECT_TRUE(caps.take("ld", {.job = JobId{2}}));
  EXPECT_FALSE(caps.take("ld", {.job = JobId{4}}));
  EXPECT_FALSE(caps.take("ld", {.job = JobId{3}}));
  EXPECT_FALSE(caps.take("ld", {.job = JobId{3}}));
  EXPECT_EQ(caps.aside(), 2U);
  EXPECT_EQ(caps.leave("ld", JobId{2}), JobId{3});
  EXPECT_EQ(caps.aside(), 1U);
  EXPECT_TRUE(caps.take("ld", {.job = JobId{3}}));  // it has the place
  EXPECT_EQ(caps.leave("ld", JobId{2}), std::nullopt);
  EXPECT_EQ(caps.leave("ld", JobId{3}), JobId{4});
  EXPECT_EQ(caps.leave("ld", JobId{1}), std::nullopt);
  EXPECT_EQ(caps.leave("ld", JobId{4}), std::nullopt);
  EXPECT_TRUE(caps.take("ld", {.job = JobId{5}}));
}

TEST(ClassCaps, HigherPrioritiesAreNext) {
  ClassCaps caps({{"ld", 1}});
  EXPECT_TRUE(caps.take("ld", {.job = JobId{1}}));
  EXPECT_FALSE(caps.take("ld", {.job = JobId{2}, .priority = -1}));
  EXPECT_FALSE(caps.take("ld", {.job = JobId{3}}));
  EXPECT_FALSE(caps.take("ld", {.job = JobId{4}, .priority = 7}));
  EXPECT_EQ(caps.leave("ld", JobId{1}), JobId{4});
  EXPECT_EQ(caps.leave("ld", JobId{4}), JobId{3});
  EXPECT_EQ(caps.leave("ld", JobId{3}), JobId{2});
}

TEST(ClassCaps, WhoWithdrawsWhileAsideIsNotNext) {
  ClassCaps caps({{"ld", 1}});
  EXPECT_TRUE(caps.take("ld", {.job = JobId{1}}));
  EXPECT_FALSE(caps.take("ld", {.job = JobId{2}}));
  EXPECT_FALSE(caps.take("ld", {.job = JobId{3}}));
  EXPECT_EQ(caps.leave("ld", JobId{2}), std::nullopt);
  EXPECT_EQ(caps.leave("ld", JobId{1}), JobId{3});
  EXPECT_EQ(caps.aside(), 0U);
}

// However many somebody has asked for, and whatever priority he gave them.
TEST(ClassCaps, APlaceGoesToTheUserWhoHoldsFewest) {
  ClassCaps caps({{"db", 2}});
  EXPECT_TRUE(caps.take("db", {.job = JobId{1}, .tenant = kAlice}));
  EXPECT_TRUE(caps.take("db", {.job = JobId{2}, .tenant = kAlice}));
  EXPECT_FALSE(caps.take("db", {.job = JobId{3}, .tenant = kAlice, .priority = 5}));
  EXPECT_FALSE(caps.take("db", {.job = JobId{4}, .tenant = kBob}));
  EXPECT_FALSE(caps.take("db", {.job = JobId{5}, .tenant = kBob}));
  EXPECT_EQ(caps.leave("db", JobId{1}), JobId{4});
  EXPECT_EQ(caps.leave("db", JobId{2}), JobId{3});
}

TEST(ClassCaps, ACapIsOnlyLowered) {
  ClassCaps caps({{"ld", 3}});
  for (unsigned job = 1; job <= 3; ++job) EXPECT_TRUE(caps.take("ld", {.job = JobId{job}}));
  caps.cap("ld", 1);
  caps.cap("ld", 2);
  EXPECT_EQ(caps.of("ld"), 1U);
  EXPECT_FALSE(caps.take("ld", {.job = JobId{4}}));
  EXPECT_EQ(caps.leave("ld", JobId{1}), std::nullopt);
  EXPECT_EQ(caps.leave("ld", JobId{2}), std::nullopt);
  EXPECT_EQ(caps.leave("ld", JobId{3}), JobId{4});
}

ClassCaps::Claim command(unsigned job) { return {.job = JobId{job}, .is_command = true}; }

// What has the place may wait for the command.
TEST(ClassCaps, APlaceOfWhoWaitsForCommandsIsLentToCommands) {
  ClassCaps caps({{"ld", 1}});
  EXPECT_TRUE(caps.take("ld", {.job = JobId{1}}));
  caps.begins("ld", JobId{1});
  EXPECT_FALSE(caps.take("ld", {.job = JobId{2}}));
  EXPECT_FALSE(caps.take("ld", command(3)));
  EXPECT_EQ(caps.take_from_waiting("ld", command(3)), std::nullopt);
  EXPECT_EQ(caps.lend("ld", JobId{1}), JobId{3});
  EXPECT_EQ(caps.lend("ld", JobId{1}), std::nullopt);
  EXPECT_FALSE(caps.take("ld", command(4)));
  EXPECT_EQ(caps.leave("ld", JobId{3}), JobId{4});
  caps.take_back("ld", JobId{1});
  EXPECT_EQ(caps.leave("ld", JobId{4}), std::nullopt);
  EXPECT_EQ(caps.leave("ld", JobId{1}), JobId{2});
  EXPECT_EQ(caps.aside(), 0U);
}

TEST(ClassCaps, WhoEndsWhileItsPlaceIsLentTakesItAlong) {
  ClassCaps caps({{"ld", 1}});
  EXPECT_TRUE(caps.take("ld", {.job = JobId{1}}));
  EXPECT_EQ(caps.lend("ld", JobId{1}), std::nullopt);
  EXPECT_TRUE(caps.take("ld", command(2)));
  EXPECT_EQ(caps.leave("ld", JobId{1}), std::nullopt);
  EXPECT_FALSE(caps.take("ld", command(3)));
  EXPECT_FALSE(caps.take("ld", {.job = JobId{4}}));
  EXPECT_EQ(caps.leave("ld", JobId{2}), JobId{3});
  EXPECT_EQ(caps.leave("ld", JobId{3}), JobId{4});
}

// It may wait for what the command is part of.
TEST(ClassCaps, ACommandTakesThePlaceOfAJobThatHasNotBegun) {
  ClassCaps caps({{"ld", 2}});
  EXPECT_TRUE(caps.take("ld", {.job = JobId{1}}));
  EXPECT_TRUE(caps.take("ld", {.job = JobId{2}}));
  EXPECT_FALSE(caps.take("ld", command(3)));
  EXPECT_EQ(caps.take_from_waiting("ld", command(3)), JobId{2});
  EXPECT_TRUE(caps.take("ld", command(3)));
  caps.begins("ld", JobId{1});
  EXPECT_FALSE(caps.take("ld", command(4)));
  EXPECT_EQ(caps.take_from_waiting("ld", command(4)), std::nullopt);
  EXPECT_EQ(caps.aside(), 2U);
  EXPECT_EQ(caps.leave("ld", JobId{1}), JobId{4});
  EXPECT_EQ(caps.leave("ld", JobId{4}), JobId{2});
  EXPECT_EQ(caps.aside(), 0U);
}

}  // namespace
}  // namespace plimsoll::policy

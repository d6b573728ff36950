#include "policy/share.h"

#include <gtest/gtest.h>

#include <vector>

namespace plimsoll::policy {
namespace {

using namespace plimsoll::literals;

TEST(Share, ARunAloneHasTheWholeLine) { EXPECT_EQ(share_of(8_GiB, {}, {}), 8_GiB); }

TEST(Share, WhatOthersDoNotWantIsFree) {
  const std::vector<LineClaim> others = {{.used = 1_GiB, .claimed = 2_GiB, .running = 3}};
  EXPECT_EQ(share_of(8_GiB, {}, others), 6_GiB);
}

TEST(Share, ANewRunHasItsFairShareOfWhatIsNotInUse) {
  const std::vector<LineClaim> all_claimed = {{.used = 3_GiB, .claimed = 8_GiB, .running = 9}};
  EXPECT_EQ(share_of(8_GiB, {.wanting = true}, all_claimed), 4_GiB);
  const std::vector<LineClaim> all_used = {{.used = 7_GiB, .claimed = 8_GiB, .running = 9}};
  EXPECT_EQ(share_of(8_GiB, {.wanting = true}, all_used), 1_GiB);
}

TEST(Share, ARunGivesWayAsItsJobsEnd) {
  const std::vector<LineClaim> newcomer = {{.claimed = 512_MiB, .wanting = true, .running = 1}};
  EXPECT_EQ(share_of(8_GiB, {.used = 7_GiB, .claimed = 8_GiB, .running = 9}, newcomer), 7_GiB);
  EXPECT_EQ(share_of(8_GiB, {.used = 5_GiB, .claimed = 6_GiB, .running = 7}, newcomer), 5_GiB);
  EXPECT_EQ(share_of(8_GiB, {.used = 1_GiB, .claimed = 2_GiB, .running = 2}, newcomer), 4_GiB);
}

TEST(Share, AJobAloneMayHaveAllThatIsNotInUse) {
  const std::vector<LineClaim> other = {
      {.used = 1_GiB, .claimed = 4_GiB, .wanting = true, .running = 4}};
  EXPECT_EQ(share_of(8_GiB, {.used = 5_GiB, .claimed = 5_GiB, .running = 1}, other), 7_GiB);
}

TEST(Share, NobodyIsLeftWithNothing) {
  const std::vector<LineClaim> others = {
      {.used = 9_GiB, .claimed = 9_GiB, .wanting = true, .running = 9}};
  EXPECT_EQ(share_of(8_GiB, {.wanting = true}, others), 512_MiB);
}

}  // namespace
}  // namespace plimsoll::policy

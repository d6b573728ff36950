#include <gtest/gtest.h>

#include "policy/governor/governor.h"

namespace plimsoll::policy {
namespace {

using namespace std::chrono_literals;

constexpr Instant kNow{100s};

double added_by_pauses(int pauses, double seconds) {
  SafetyMargin margin;
  for (int i = 0; i < pauses; ++i) margin.paused(seconds, kNow);
  return margin.margin(kNow) - kMarginLeast;
}

TEST(SafetyMargin, AtFirstTheLeastIsLeftFree) {
  EXPECT_DOUBLE_EQ(SafetyMargin().margin(kNow), kMarginLeast);
}

// Half a second of pause is much to a job of two seconds, and nothing to one of minutes.
TEST(SafetyMargin, TheLongerAJobTheLessDoesItsPauseAdd) {
  EXPECT_NEAR(added_by_pauses(1, 0), kMarginPause, 1e-12);
  EXPECT_NEAR(added_by_pauses(1, 2), kMarginPause, 1e-12);
  EXPECT_NEAR(added_by_pauses(1, 10), kMarginPause, 1e-12);
  EXPECT_NEAR(added_by_pauses(1, 20), kMarginPause / 2, 1e-12);
  EXPECT_NEAR(added_by_pauses(100, 1000), kMarginPause, 1e-12);
}

TEST(SafetyMargin, AnEvictionAddsAsMuchHoweverLongTheJob) {
  SafetyMargin margin;
  margin.evicted(kNow);
  EXPECT_NEAR(margin.margin(kNow), kMarginLeast + kMarginEviction, 1e-12);
}

TEST(SafetyMargin, HalfOfWhatWasAddedIsForgottenAfterAWhile) {
  SafetyMargin margin;
  margin.evicted(kNow);
  EXPECT_NEAR(margin.margin(kNow + kSafetyMarginHalfLife), kMarginLeast + kMarginEviction / 2,
              1e-12);
}

TEST(SafetyMargin, ItHasAMost) {
  EXPECT_NEAR(added_by_pauses(10'000, 1), kMarginMost - kMarginLeast, 1e-12);
}

}  // namespace
}  // namespace plimsoll::policy

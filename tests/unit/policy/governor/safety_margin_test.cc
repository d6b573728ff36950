#include "governor_crowd.h"

namespace plimsoll::policy {
namespace {

using namespace std::chrono_literals;

constexpr Instant kNow{100s};

double added_by(double part, Duration time) {
  SafetyMargin margin;
  margin.wasted(part, time, kNow);
  return margin.margin(kNow) - kMarginLeast;
}

TEST(SafetyMargin, AtFirstTheLeastIsLeftFree) {
  EXPECT_DOUBLE_EQ(SafetyMargin().margin(kNow), kMarginLeast);
}

TEST(SafetyMargin, WhatIsAddedIsWorthWhatWasWasted) {
  EXPECT_NEAR(added_by(0.01, kMarginPays), 0.01, 1e-12);
  EXPECT_NEAR(added_by(0.1, kMarginPays / 10), 0.01, 1e-12);
  EXPECT_NEAR(added_by(0.04, 300ms), 0.00002, 1e-12) << "a short job";
  EXPECT_EQ(added_by(0, 1h), 0);
}

TEST(SafetyMargin, OneLossAddsNoMoreThanAStep) {
  EXPECT_NEAR(added_by(0.5, 2h), kMarginStep, 1e-12);
}

TEST(SafetyMargin, HalfOfWhatWasAddedIsForgottenAfterAWhile) {
  SafetyMargin margin;
  margin.wasted(0.02, kMarginPays, kNow);
  EXPECT_NEAR(margin.margin(kNow + kSafetyMarginHalfLife), kMarginLeast + 0.01, 1e-12);
}

TEST(SafetyMargin, ItHasAMost) {
  SafetyMargin margin;
  for (int i = 0; i < 100; ++i) margin.wasted(1, kMarginPays, kNow);
  EXPECT_NEAR(margin.margin(kNow), kMarginMost, 1e-12);
}

// Job 8 of a crowd has run for 2.5 s when it is paused for growing.
double added_by_a_pause_of(const Estimate& estimate, unsigned freezes) {
  Story story = crowd(small(), 8);
  story.governor.expect(story.job(8), estimate, at(10));
  story.job(8).member->freezes = freezes;
  grows_and_is_frozen(story, 8);
  const double line = to_double(story.governor.config().line);
  return (story.governor.margin(at(10.5)) - kMarginLeast) * line / story.job(8).member->used();
}

// The longer one pauses, the more it wastes: who is frozen again and again for longer each time.
TEST(SafetyMargin, APauseCountsByHowLongItIsAtLeast) {
  const Estimate lasting = flat({.mib = 300, .seconds = 997.5});
  const double once = to_seconds(kDwell) / to_seconds(kMarginPays);
  EXPECT_NEAR(added_by_a_pause_of(lasting, 0), once, 1e-9);
  EXPECT_NEAR(added_by_a_pause_of(lasting, 3), 8 * once, 1e-9);
}

TEST(SafetyMargin, AnEvictionCountsByWhatItsJobHasBeenGiven) {
  Story story = unpausable_crowd_past_the_line();
  ASSERT_THAT(story.rules(11.5), ::testing::Contains("evict 3"));
  const double ran = to_seconds(story.job(3).member->sample.ran);
  ASSERT_GT(ran, 8);
  EXPECT_NEAR(story.governor.margin(at(11.5)) - kMarginLeast, 0.6 * ran / to_seconds(kMarginPays),
              1e-9);
}

TEST(SafetyMargin, WhatTheUserPausesAddsNothing) {
  Story story = crowd(small(), 3);
  story.governor.pause(story.job(2), at(11));
  EXPECT_THAT(story.rules(11), ::testing::ElementsAre("freeze 2"));
  EXPECT_DOUBLE_EQ(story.governor.margin(at(11)), kMarginLeast);
}

}  // namespace
}  // namespace plimsoll::policy

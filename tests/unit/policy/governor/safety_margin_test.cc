#include "governor_crowd.h"

namespace plimsoll::policy {
namespace {

using namespace std::chrono_literals;

constexpr Instant kNow{100s};

double added_by_pauses(int pauses, double part) {
  SafetyMargin margin;
  for (int i = 0; i < pauses; ++i) margin.paused(part, kNow);
  return margin.margin(kNow) - kMarginLeast;
}

TEST(SafetyMargin, AtFirstTheLeastIsLeftFree) {
  EXPECT_DOUBLE_EQ(SafetyMargin().margin(kNow), kMarginLeast);
}

// Half a second of pause is much to a job of two seconds, and little to one of minutes.
TEST(SafetyMargin, TheSmallerAPartOfItsJobTheLessDoesAPauseAdd) {
  EXPECT_NEAR(added_by_pauses(1, 1), kMarginPause, 1e-12);
  EXPECT_NEAR(added_by_pauses(1, kPauseTells), kMarginPause, 1e-12);
  EXPECT_NEAR(added_by_pauses(1, kPauseTells / 2), kMarginPause / 2, 1e-12);
  EXPECT_NEAR(added_by_pauses(100, kPauseTells / 100), kMarginPause, 1e-12);
}

TEST(SafetyMargin, AnEvictionAddsMoreThanAPause) {
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

// Job 8 of a crowd has run for 2.5 s when it is paused for growing.
double added_by_a_pause_of(const Estimate& estimate) {
  Story story = crowd(small(), 8);
  story.governor.expect(story.job(8), estimate, at(10));
  grows_and_is_frozen(story, 8);
  return story.governor.margin(at(10.5)) - kMarginLeast;
}

TEST(SafetyMargin, APauseCountsByTheTimeOfItsJob) {
  const Expected with{.mib = 300};
  const auto taking = [&with](double seconds) {
    Expected expected = with;
    expected.seconds = seconds;
    return flat(expected);
  };
  EXPECT_NEAR(added_by_a_pause_of(taking(1)), kMarginPause, 1e-12);
  EXPECT_NEAR(added_by_a_pause_of(taking(17.5)), kMarginPause / 2, 1e-12);
  EXPECT_NEAR(added_by_a_pause_of(taking(97.5)), kMarginPause / 10, 1e-12);
  Estimate unknown = taking(97.5);
  unknown.basis = Basis::prior;
  unknown.attempts_known = 0;
  EXPECT_NEAR(added_by_a_pause_of(unknown), kMarginPause, 1e-12);
}

// Who is frozen again and again stands still for longer each time.
TEST(SafetyMargin, TheLongerAPauseTheMoreItAdds) {
  Story story = crowd(small(), 8);
  story.governor.expect(story.job(8), flat({.mib = 300, .seconds = 997.5}), at(10));
  story.job(8).member->freezes = 3;
  grows_and_is_frozen(story, 8);
  const double part = to_seconds(kDwell) * 8 / 1000;
  EXPECT_NEAR(story.governor.margin(at(10.5)) - kMarginLeast, kMarginPause * part / kPauseTells,
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

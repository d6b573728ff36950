// What the governor is told while a job runs, as stories.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "courses.h"

namespace plimsoll::policy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Story, WhatTheClassHasShownCountsMoreThanTheHint) {
  Estimator estimator;
  for (int i = 0; i < 5; ++i) estimator.learn(attempt_summary({{0, 10}, {5, 80}, {20, 80}}));
  const Estimate estimate = estimator.estimate(kClass, {.memory_hint = mb(9000)});
  EXPECT_EQ(estimate.basis, Basis::exact);
  EXPECT_EQ(estimate.attempts_known, 5U);
  EXPECT_NEAR(peak_mb(estimate), 80, 5);
  EXPECT_NEAR(estimate.remaining.mean, 20, 2);
}

TEST(Story, WhatAClassHasWrittenIsExpectedAgainUnlessTheUserKnowsBetter) {
  Estimator estimator;
  EXPECT_FALSE(estimator.estimate(kClass, {}).written);
  for (int i = 0; i < 5; ++i) {
    AttemptSummary one = attempt_summary({{0, 10}, {20, 80}});
    EXPECT_FALSE(estimator.estimate(kClass, {}).written) << "nobody could tell";
    estimator.learn(one);
  }
  for (int i = 0; i < 5; ++i) {
    AttemptSummary one = attempt_summary({{0, 10}, {20, 80}});
    one.written = mb(300);
    estimator.learn(one);
  }
  const auto written = estimator.estimate(kClass, {}).written;
  ASSERT_TRUE(written);
  EXPECT_NEAR(written->mean, to_double(mb(300)), 1);
  EXPECT_LT(written->spread, to_double(mb(60)));
  // The same while it runs, and of the user's word.
  const auto running = estimator.estimate(kClass, {}, after({{0, 10}, {5, 40}}));
  EXPECT_NEAR(running.written->mean, to_double(mb(300)), 1);
  const auto told = estimator.estimate(kClass, {.disk_hint = mb(20)});
  EXPECT_TRUE(told.is_written_told);
  EXPECT_EQ(told.written->mean, to_double(mb(20)));
  EXPECT_EQ(told.written->spread, 0);
}

TEST(Story, WhatAClassDoesWithDevicesIsExpectedAgain) {
  Estimator estimator;
  AttemptSummary one = attempt_summary({{0, 10}, {20, 80}});
  one.io = mb(400);
  estimator.learn(one);
  EXPECT_FALSE(estimator.estimate(kClass, {}).io) << "nobody could tell how long it waited";
  one.io_wait = std::chrono::seconds(10);
  estimator.learn(one);
  const auto io = estimator.estimate(kClass, {}).io;
  ASSERT_TRUE(io);
  EXPECT_NEAR(io->waited, 0.5, 1e-6);
  EXPECT_NEAR(io->bytes_per_second, to_double(mb(20)), 1);
  one.io_wait = std::chrono::seconds(20);
  estimator.learn(one);
  EXPECT_GT(estimator.estimate(kClass, {}).io->waited, 0.75) << "the newest counts most";
  EXPECT_EQ(estimator.estimate(kClass, {}, after({{0, 10}, {5, 40}})).io,
            estimator.estimate(kClass, {}).io);
}

// The last look is taken when nobody lives any more. Who is near the end of such a course has not
// less because of it, and who has less is not near an end.
TEST(Story, WhatIsSeenAfterAnEndIsNotExpectedBeforeIt) {
  Estimator estimator;
  for (const double peak : {60, 80, 100}) {
    estimator.learn(attempt_summary({{0, 5}, {0.1, peak}, {4, peak}, {5, 0}}));
    estimator.learn(attempt_summary({{0, 5}, {0.1, peak}, {8, peak}, {9, 0}}));
  }
  for (const double ran : {3.0, 4.5, 8.0}) {
    const Estimate estimate =
        estimator.estimate(kClass, {}, after({{0, 5}, {0.1, 70}, {ran - 0.2, 70}, {ran, 70}}));
    EXPECT_NEAR(at(estimate, seconds(0)).mean / kMb, 70, 1) << ran;
    EXPECT_LT(at(estimate, seconds(0)).spread / kMb, 3) << ran;
    EXPECT_NEAR(peak_mb(estimate), 70, 10) << ran;
  }
}

// Loads, holds for long, and needs twice as much for a short time at its end.
std::vector<At> late_peak(double length) {
  return {
      {0, 100}, {length * 0.1, 4000}, {length * 0.95, 4000}, {length * 0.97, 9000}, {length, 9000}};
}

TEST(Story, AClassThatPeaksLateIsKnownToWhileItHolds) {
  Estimator estimator;
  for (int i = 0; i < 10; ++i) estimator.learn(attempt_summary(late_peak(900 + 5 * i)));
  const Estimate estimate =
      estimator.estimate(kClass, {}, after({{0, 100}, {100, 4000}, {200, 4000}, {300, 4000}}));
  EXPECT_NEAR(peak_mb(estimate), 9000, 500);
  EXPECT_NEAR(at(estimate, seconds(10)).mean / kMb, 4000, 200);
  EXPECT_NEAR(at(estimate, seconds(160)).mean / kMb, 4000, 600);
  EXPECT_GT(at(estimate, seconds(640)).mean / kMb, 4500);
  EXPECT_NEAR(estimate.ahead[0].mean / kMb, 4000, 50);
  EXPECT_LT(estimate.ahead[0].spread / kMb, 100);
  EXPECT_GT(estimate.survival[1], 0.95);
  EXPECT_LT(estimate.survival.back(), 0.05);
}

TEST(Story, AfterItsPeakItIsExpectedToEnd) {
  Estimator estimator;
  for (int i = 0; i < 10; ++i) estimator.learn(attempt_summary(late_peak(900 + 5 * i)));
  std::vector<At> course = late_peak(920);
  course.pop_back();
  const Estimate estimate = estimator.estimate(kClass, {}, after(course));
  EXPECT_LT(estimate.remaining.mean, 200);
  EXPECT_NEAR(peak_mb(estimate), 9000, 700);
}

// Nobody knows when those would have ended.
TEST(Story, WhatOutlivesAttemptsThatWereCutOffIsNotExpectedToEnd) {
  Estimator estimator;
  AttemptSummary cut = attempt_summary({{0, 100}, {1, 100}});
  cut.peak_seen = cut.ran_seen = Seen::at_least;
  estimator.learn(cut);
  for (const double ran : {0.5, 1.5, 2.5, 20.0}) {
    const Estimate estimate = estimator.estimate(kClass, {}, after({{0, 100}, {ran, 100}}));
    EXPECT_GT(estimate.remaining.mean, ran * 0.9) << ran;
  }
}

// Nor that it stays as large as they were.
TEST(Story, WhatGrowsBeyondAttemptsThatWereCutOffIsExpectedToGoOn) {
  Estimator estimator;
  AttemptSummary cut = attempt_summary({{0, 100}, {5, 500}});
  cut.peak_seen = cut.ran_seen = Seen::at_least;
  estimator.learn(cut);
  std::vector<At> course;
  for (double t = 0; t <= 60; ++t) course.push_back({t, 480 + 2 * t});
  const Estimate estimate = estimator.estimate(kClass, {}, after(course));
  EXPECT_GT(at(estimate, seconds(60)).mean / kMb, 650);
}

TEST(Story, AClassThatRampsIsExpectedToGoOnRamping) {
  Estimator estimator;
  for (int i = 0; i < 10; ++i) estimator.learn(attempt_summary({{0, 0}, {100, 1000}}));
  const Estimate estimate =
      estimator.estimate(kClass, {}, after({{0, 0}, {10, 100}, {20, 200}, {30, 300}}));
  EXPECT_NEAR(at(estimate, seconds(20)).mean / kMb, 500, 80);
  EXPECT_NEAR(at(estimate, seconds(40)).mean / kMb, 700, 100);
}

// Four teeth of a saw between 20 and 200 MB, in four seconds.
std::vector<At> saw() {
  std::vector<At> course = {{0, 5}};
  for (int tooth = 0; tooth < 4; ++tooth) {
    course.push_back({tooth + 0.95, 200});
    course.push_back({tooth + 1.0, 20});
  }
  return course;
}

// Nearly nothing after 10 ms says nothing about what comes.
TEST(Story, TheFirstMomentsOfAJobAreNoNews) {
  Estimator estimator;
  for (int i = 0; i < 8; ++i) estimator.learn(attempt_summary(saw()));
  for (const double used : {0.0, 0.5, 4.0, 8.0}) {
    const Estimate estimate = estimator.estimate(kClass, {}, after({{0.01, used}}));
    EXPECT_NEAR(peak_mb(estimate), 200, 10) << used;
    const double most = (estimate.ahead[1].mean + estimate.swing[1]) / kMb;
    EXPECT_NEAR(most, 200, 10) << used;
    EXPECT_GT(estimate.survival[2], 0.95) << used;
  }
}

// Who is a little early or late on the way up has not become larger or smaller.
TEST(Story, ALittleEarlyOrLateIsNotAnotherSize) {
  Estimator estimator;
  for (int i = 0; i < 8; ++i) estimator.learn(attempt_summary(saw()));
  std::vector<At> course = {{0, 5}};
  for (const double later : {-0.15, 0.0, 0.15}) {
    course = {{0, 5}, {0.3, 5 + 205 * (0.3 + later)}, {0.5, 5 + 205 * (0.5 + later)}};
    const Estimate estimate = estimator.estimate(kClass, {}, after(course));
    EXPECT_DOUBLE_EQ(estimate.ahead[0].mean / kMb, std::floor(course.back().used_mb * kMb) / kMb);
    EXPECT_NEAR(peak_mb(estimate), 200, 5) << later;
    EXPECT_NEAR((estimate.ahead[1].mean + estimate.swing[1]) / kMb, 200, 10) << later;
  }
}

TEST(Story, OneThatIsNothingLikeItsClassIsJudgedByItself) {
  Estimator estimator;
  for (int i = 0; i < 20; ++i) estimator.learn(attempt_summary({{0, 50}, {10, 100}, {100, 100}}));
  const Estimate estimate =
      estimator.estimate(kClass, {}, after({{0, 50}, {5, 500}, {10, 1000}, {15, 1500}}));
  EXPECT_GT(peak_mb(estimate), 2000);
  EXPECT_GT(at(estimate, seconds(5)).mean / kMb, 1600);
}

TEST(Story, AnEvictedAttemptRaisesTheEstimateOfTheNext) {
  Estimator estimator;
  for (int i = 0; i < 10; ++i) estimator.learn(attempt_summary({{0, 50}, {10, 100}, {100, 100}}));
  const Estimate before = estimator.estimate(kClass, {});
  const Estimate estimate = estimator.estimate(kClass, {.reached = mb(400)});
  EXPECT_LT(peak_mb(before), 120);
  EXPECT_GT(peak_mb(estimate), 400);
  EXPECT_GE(estimate.peak.spread, before.peak.spread);
  EXPECT_GT(at(estimate, seconds(20)).mean, at(before, seconds(20)).mean);
}

TEST(Story, NewerAttemptsCountMore) {
  Estimator estimator;
  for (int i = 0; i < 40; ++i) estimator.learn(attempt_summary({{0, 100}, {10, 100}}));
  for (int i = 0; i < 40; ++i) estimator.learn(attempt_summary({{0, 300}, {10, 300}}));
  EXPECT_GT(peak_mb(estimator.estimate(kClass, {})), 240);
}

TEST(Story, WhatNobodyHasSeenIsLikeTheRestAndInGreatDoubt) {
  Estimator estimator;
  const Estimate nothing = estimator.estimate(kOther, {});
  EXPECT_EQ(nothing.basis, Basis::prior);
  EXPECT_GE(nothing.peak.spread, nothing.peak.mean);
  for (int i = 0; i < 10; ++i) estimator.learn(attempt_summary({{0, 3000}, {10, 3000}}));
  const Estimate estimate = estimator.estimate(kOther, {});
  EXPECT_EQ(estimate.basis, Basis::global);
  EXPECT_NEAR(peak_mb(estimate), 3000, 1);
  EXPECT_GE(estimate.peak.spread, estimate.peak.mean);
}

TEST(Story, AToolStandsInForAClassThatIsNew) {
  Estimator estimator;
  for (int i = 0; i < 20; ++i) {
    estimator.learn({.key = {"sort-small", "samtools sort"}, .peak = mb(5000), .ran = seconds(60)});
  }
  const Estimate estimate = estimator.estimate({"sort-large", "samtools sort"}, {});
  EXPECT_EQ(estimate.basis, Basis::tool);
  EXPECT_GT(peak_mb(estimate), 3500);
  EXPECT_GT(estimate.peak.spread,
            estimator.estimate({"sort-small", "samtools sort"}, {}).peak.spread);
}

TEST(Story, TheInputTellsWhereItHasBeforeAndOnlyThere) {
  Estimator estimator;
  for (int i = 1; i <= 10; ++i) {
    estimator.learn(
        {.key = kClass, .peak = mb(100 * i), .ran = seconds(10 * i), .input = mb(10 * i)});
    estimator.learn(
        {.key = kOther, .peak = mb(100 + i % 2), .ran = seconds(10), .input = mb(10 * i)});
  }
  const Estimate small = estimator.estimate(kClass, {.input = mb(20)});
  const Estimate large = estimator.estimate(kClass, {.input = mb(150)});
  EXPECT_NEAR(peak_mb(small), 200, 60);
  EXPECT_NEAR(peak_mb(large), 1500, 200);
  EXPECT_NEAR(large.remaining.mean, 150, 25);
  EXPECT_GT(large.survival[7], small.survival[7]);
  EXPECT_NEAR(peak_mb(estimator.estimate(kOther, {.input = mb(1000)})), 100, 5);
}

TEST(Story, APeakBetweenTwoSamplesIsNotLost) {
  Estimator estimator;
  AttemptSummary one = attempt_summary({{0, 10}, {5, 60}, {10, 20}});
  one.peak = mb(90);
  for (int i = 0; i < 5; ++i) estimator.learn(one);
  EXPECT_NEAR(peak_mb(estimator.estimate(kClass, {})), 90, 1);
  EXPECT_NEAR(peak_mb(estimator.estimate(kClass, {}, after({{0, 10}}))), 90, 10);
}

TEST(Story, FedWithTheSameExperiencesAnotherEstimatorSaysTheSame) {
  Estimator first;
  Estimator second;
  for (std::size_t i = 0; i < 3 * kRunsMax; ++i) {
    const double d = static_cast<double>(i % 17);
    const AttemptSummary one = attempt_summary({{0, 10 + d}, {5 + d, 60 + d}, {20 + d, 20}});
    first.learn(one);
    if (i >= 2 * kRunsMax) second.learn(one);
  }
  const Estimate a = first.estimate(kClass, {});
  const Estimate b = second.estimate(kClass, {});
  EXPECT_EQ(a.peak.mean, b.peak.mean);
  EXPECT_EQ(a.peak.spread, b.peak.spread);
  EXPECT_EQ(a.survival, b.survival);
}

Key of_user(std::uint32_t uid) { return {.exact = kClass.exact, .tool = "cc", .owner = uid}; }

// What one user's jobs have used, or were said to, is nothing to another's: neither by the name of
// their class nor by what all commands have in common.
TEST(Owners, EachBelievesHisOwnPast) {
  Estimator estimator;
  const double before = peak_mb(estimator.estimate(of_user(1000), {}));
  for (int i = 0; i < 50; ++i) {
    AttemptSummary one = attempt_summary({{0, 100}, {10, 90'000}});
    one.key = of_user(1001);
    one.memory_hint = mb(1);
    estimator.learn(one);
  }
  EXPECT_EQ(peak_mb(estimator.estimate(of_user(1000), {})), before);
  EXPECT_EQ(estimator.estimate(kClass, {}).basis, estimator.estimate(kOther, {}).basis);
  EXPECT_EQ(estimator.estimate(of_user(1000), {}).basis, Basis::prior);
  EXPECT_EQ(peak_mb(estimator.estimate(of_user(1000), {.memory_hint = mb(7)})),
            peak_mb(Estimator().estimate(kClass, {.memory_hint = mb(7)})));
  EXPECT_EQ(estimator.estimate(of_user(1001), {}).basis, Basis::exact);
  EXPECT_GT(peak_mb(estimator.estimate(of_user(1001), {})), 50'000);
}

TEST(Owners, AreBounded) {
  Estimator estimator;
  for (std::uint32_t uid = 0; uid < 3 * kOwnersMax; ++uid) {
    AttemptSummary one = attempt_summary({{0, 100}, {10, 90}});
    one.key = of_user(uid);
    estimator.learn(one);
    EXPECT_EQ(estimator.estimate(of_user(0), {}).basis, Basis::exact);  // asked for all the time
  }
  EXPECT_EQ(estimator.classes_known(), kOwnersMax);
}

}  // namespace
}  // namespace plimsoll::policy

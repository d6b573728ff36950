// What a user's hint and a job's own limit say of how far the job grows.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "courses.h"

namespace plimsoll::policy {
namespace {

using std::chrono::seconds;

// The worked examples of BuildKit's proposal 2108: the prior is a hint of 200 MB.
class Hinted : public testing::Test {
 protected:
  Estimator estimator;
  JobFacts facts{.memory_hint = mb(200)};
  double peak(const std::vector<At>& course) {
    return peak_mb(estimator.estimate(kClass, facts, after(course)));
  }
};

TEST_F(Hinted, AJobThatStaysSmallGivesTheReserveBackWithinTenSeconds) {
  EXPECT_NEAR(peak_mb(estimator.estimate(kClass, facts)), 200, 1);
  const double at_5 = peak({{0, 30}, {5, 30}});
  const double at_10 = peak({{0, 30}, {5, 30}, {10, 31}});
  const double at_20 = peak({{0, 30}, {5, 30}, {10, 31}, {20, 32}});
  EXPECT_GT(at_5, 70);
  EXPECT_LT(at_5, 150);
  EXPECT_GT(at_10, 31);
  EXPECT_LT(at_10, 60);
  EXPECT_GE(at_20, 32);
  EXPECT_LT(at_20, 40);
}

TEST_F(Hinted, AJobThatOutgrowsItsHintIsExpectedToGoOnUntilItSlowsDown) {
  std::vector<At> course = {{0, 100}, {10, 200}};
  const double at_10 = peak(course);
  course.push_back({20, 300});
  const double at_20 = peak(course);
  course.push_back({30, 320});
  const double at_30 = peak(course);
  course.push_back({40, 325});
  const double at_40 = peak(course);
  EXPECT_GT(at_10, 250);
  EXPECT_LT(at_10, 400);
  EXPECT_GT(at_20, 700);
  EXPECT_LT(at_20, 1300);
  EXPECT_GT(at_30, 400);
  EXPECT_LT(at_30, 700);
  EXPECT_GE(at_40, 325);
  EXPECT_LT(at_40, 500);
}

// It has been said where its growth ends; the hint counts with its doubt of 141 MB.
TEST_F(Hinted, AJobThatGrowsFastIsExpectedToStopNearItsHint) {
  EXPECT_NEAR(peak({{0, 10}, {10, 190}}), 341, 1);
  EXPECT_GT(peak({{0, 10}, {10, 205}}), 380);
}

TEST_F(Hinted, ItIsSaidHowFarAJobGrowsUntilItHasGoneFurther) {
  const auto told = [this](double used) {
    return estimator.estimate(kClass, facts, after({{0, 10}, {10, used}})).told_most;
  };
  EXPECT_NEAR(estimator.estimate(kClass, facts).told_most.value(), 341e6, 1e6);
  for (const double used : {20.0, 190.0, 205.0, 340.0}) {
    ASSERT_TRUE(told(used)) << used;
    EXPECT_NEAR(*told(used), 341e6, 1e6) << used;
  }
  EXPECT_FALSE(told(350));
  facts.reached = mb(350);
  EXPECT_FALSE(told(20));
  EXPECT_FALSE(estimator.estimate(kClass, facts).told_most);
  EXPECT_FALSE(estimator.estimate(kClass, {}).told_most);
}

// Small ones say nothing of it, nor do those that ended early; one that needed more does.
TEST_F(Hinted, WhatIsSaidHoldsBesideWhatOthersHaveShown) {
  estimator.show(kClass, {}, showing_of(after({{0, 20}, {10, 20}, {20, 20}})));
  EXPECT_NEAR(estimator.estimate(kClass, facts).told_most.value(), 341e6, 1e6);
  AttemptSummary cut_off = attempt_summary({{0, 1}, {1, 5}});
  cut_off.peak_seen = Seen::at_least;
  estimator.learn(cut_off);
  EXPECT_NEAR(estimator.estimate(kClass, facts).told_most.value(), 341e6, 1e6);
  Estimator of_large;
  of_large.learn(attempt_summary({{0, 1}, {1, 900}}));
  EXPECT_GT(of_large.estimate(kClass, facts).told_most.value(), 900e6);
}

TEST(Story, AJobHasNoMoreThanItsLimit) {
  const Estimator estimator;
  const auto told = [&estimator](const JobFacts& facts) {
    return estimator.estimate(kClass, facts).told_most;
  };
  EXPECT_EQ(told({.memory_max = mb(150)}), 150e6);
  EXPECT_EQ(told({.memory_hint = mb(900), .memory_max = mb(150)}), 150e6);
  EXPECT_NEAR(told({.memory_hint = mb(20), .memory_max = mb(150)}).value(), 34e6, 1e6);
  // The hint has proved too low, the limit holds.
  const auto now = estimator.estimate(kClass, {.memory_hint = mb(20), .memory_max = mb(150)},
                                      after({{0, 10}, {1, 60}, {2, 149}}));
  EXPECT_EQ(now.told_most, 150e6);
}

TEST_F(Hinted, HintsThatWereTenTimesTooHighAreTrustedLess) {
  for (int i = 0; i < 8; ++i) {
    estimator.learn({.key = {"class-" + std::to_string(i), ""},
                     .peak = mb(20),
                     .ran = seconds(10),
                     .memory_hint = mb(200)});
  }
  const Estimate estimate = estimator.estimate(kClass, facts);
  EXPECT_EQ(estimate.basis, Basis::hint);
  EXPECT_LT(peak_mb(estimate), 80);
  EXPECT_GT(peak_mb(estimate), 20);
}

}  // namespace
}  // namespace plimsoll::policy

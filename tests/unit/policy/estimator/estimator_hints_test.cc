// What a user's hint and a job's own limit say of how far the job grows.
#include <gtest/gtest.h>

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
  const auto ceiling = [this](double mb_used) {
    return estimator.estimate(kClass, facts, after({{0, 10}, {10, mb_used}})).ceiling;
  };
  EXPECT_NEAR(ceiling(100).value().mean, 200e6, 1e6);
  EXPECT_FALSE(ceiling(400));
  const auto without = estimator.estimate(kClass, {}, after({{0, 10}, {10, 190}}));
  EXPECT_FALSE(without.ceiling);
}

TEST(Story, AJobThatHasALimitIsNotExpectedToPassIt) {
  const Estimator estimator;
  const JobFacts limited{.memory_max = mb(150)};
  const auto at_first = estimator.estimate(kClass, limited);
  ASSERT_TRUE(at_first.ceiling);
  EXPECT_EQ(at_first.ceiling->mean, 150e6);
  const auto now = estimator.estimate(kClass, limited, after({{0, 10}, {1, 60}, {2, 150}}));
  ASSERT_TRUE(now.ceiling);
  EXPECT_EQ(now.ceiling->mean + now.ceiling->spread, 150e6);
  // A hint above the limit is as much as the limit.
  const auto both = estimator.estimate(kClass, {.memory_hint = mb(900), .memory_max = mb(150)});
  EXPECT_EQ(both.ceiling->mean + both.ceiling->spread, 150e6);
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

#include "policy/governor/hindsight.h"

#include <gtest/gtest.h>

#include "governor_story.h"

namespace plimsoll::policy {
namespace {

constexpr double kLine = 1000;
constexpr std::size_t kOneSecond = 1;  // of kHorizons

// Two running jobs with 100 bytes each, of which 300 +- 10 are forecast for each horizon.
struct Forecasting : testing::Test {
  Forecasting() {
    for (Ready* job : {&first, &second}) {
      running_set.start(*job, Estimate{}, at(0));
      uses(*job, 100, 0.1);
    }
    ahead.fill({300, 10});
  }
  void uses(Ready& job, std::uint64_t bytes, double t) {
    running_set.observe(*job.member, {.ran = at(t) - at(0), .used = {bytes}, .peak = {bytes}},
                        at(t));
  }
  // So many times, a second each: forecast, then so much by each of the two.
  void happens(int times, std::uint64_t bytes_each) {
    for (int i = 0; i < times; ++i, now += 1) {
      hindsight.forecast(running_set, ahead, kLine, at(now));
      for (Ready* job : {&first, &second}) uses(*job, bytes_each, now + 0.9);
      hindsight.compare(running_set, 1, at(now + 1));
    }
  }
  [[nodiscard]] double factor() const { return hindsight.factors()[kOneSecond]; }

  Ready first{.job = JobId{1}}, second{.job = JobId{2}};
  RunningSet running_set;
  Hindsight hindsight;
  Hindsight::Forecasts ahead{};
  double now = 1;
};

TEST_F(Forecasting, ThatHoldsLeavesDoubtsAsTheyAre) {
  happens(20, 150);
  EXPECT_DOUBLE_EQ(factor(), 1);
}

TEST_F(Forecasting, ThatIsPassedWidensDoubtsUntilItHolds) {
  happens(3, 160);  // 320 of 310
  EXPECT_GT(factor(), 1.3);
  happens(40, 160);
  EXPECT_GT(300 + 10 * factor(), 318);
  const double wide = factor();
  happens(40, 100);
  EXPECT_LT(factor(), wide / 1.5);
  EXPECT_GE(factor(), 1);
}

TEST_F(Forecasting, WhoWasStoppedIsNoMeasure) {
  happens(5, 160);
  const double before = factor();
  hindsight.forecast(running_set, ahead, kLine, at(now));
  ASSERT_TRUE(running_set.hold(*first.member, at(now + 0.5)));
  hindsight.compare(running_set, 1, at(now + 1));
  EXPECT_DOUBLE_EQ(factor(), before);
}

TEST_F(Forecasting, TroubleBeforeItsTimeIsAMissToo) {
  hindsight.forecast(running_set, ahead, kLine, at(now));
  uses(first, 400, now + 0.3);
  hindsight.cut_short(running_set, 1);
  EXPECT_GT(factor(), 1);
}

TEST_F(Forecasting, WhoEndedUsesNothing) {
  hindsight.forecast(running_set, ahead, kLine, at(now));
  running_set.leave(first, at(0));
  uses(second, 305, now + 0.5);
  hindsight.compare(running_set, 1, at(now + 1));
  EXPECT_DOUBLE_EQ(factor(), 1);
}

}  // namespace
}  // namespace plimsoll::policy

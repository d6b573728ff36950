#include "analysis/rank_statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace plimsoll::analysis {
namespace {

TEST(Tolerance, TheLargestOfSoManyIsTheFirstBoundThereIs) {
  EXPECT_FALSE(covering_rank(58, {.quantile = 0.95, .confidence = 0.95}));
  EXPECT_EQ(covering_rank(59, {.quantile = 0.95, .confidence = 0.95}), 59U);
  EXPECT_FALSE(covering_rank(28, {.quantile = 0.9, .confidence = 0.95}));
  EXPECT_EQ(covering_rank(29, {.quantile = 0.9, .confidence = 0.95}), 29U);
  EXPECT_FALSE(covering_rank(0, {}));
}

TEST(Tolerance, MoreValuesAllowALowerRank) {
  // Tables of one-sided limits: of 93 values the second largest will do, of 124 the third.
  EXPECT_EQ(covering_rank(92, {}), 92U);
  EXPECT_EQ(covering_rank(93, {}), 92U);
  EXPECT_EQ(covering_rank(124, {}), 122U);
}

TEST(Tolerance, TheConfidenceOfTheLargestIsThatNotAllLieBelow) {
  EXPECT_NEAR(confidence_of_rank(10, 10, 0.9), 1 - 0.3486784401, 1e-9);
  EXPECT_EQ(confidence_of_rank(0, 10, 0.9), 0);
  EXPECT_EQ(confidence_of_rank(11, 10, 0.9), 0);
  EXPECT_EQ(confidence_of_rank(10, 10, 1), 0);
}

TEST(Tolerance, ABoundHoldsAsOftenAsItSays) {
  constexpr std::size_t kCount = 40, kTrials = 2000;
  constexpr Coverage kWanted{.quantile = 0.9, .confidence = 0.9};
  const auto rank = covering_rank(kCount, kWanted);
  ASSERT_TRUE(rank);
  std::mt19937_64 random(7);
  std::size_t held = 0;
  for (std::size_t trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values;
    for (std::size_t i = 0; i < kCount; ++i) {
      values.push_back(static_cast<double>(random() >> 11U) * 0x1p-53);  // 0..1: its own quantile
    }
    std::sort(values.begin(), values.end());
    if (values[*rank - 1] >= kWanted.quantile) ++held;
  }
  EXPECT_GE(static_cast<double>(held) / kTrials, kWanted.confidence - 0.02);
  EXPECT_NEAR(static_cast<double>(held) / kTrials,
              confidence_of_rank(*rank, kCount, kWanted.quantile), 0.02);
}

}  // namespace
}  // namespace plimsoll::analysis

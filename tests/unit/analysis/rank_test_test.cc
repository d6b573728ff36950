#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "analysis/rank_statistics.h"

namespace plimsoll::analysis {
namespace {

using std::vector;
using ::testing::DoubleNear;
using ::testing::ElementsAre;

TEST(RankTest, PairsByTheTables) {
  // All six of one sign: 2 of 64 ways.
  EXPECT_DOUBLE_EQ(paired_change({1, 2, 3, 4, 5, 6}).p, 2.0 / 64);
  // A sum of ranks of 1 on the other side: 2 of 64 ways on each.
  EXPECT_DOUBLE_EQ(paired_change({-1, 2, 3, 4, 5, 6}).p, 4.0 / 64);
  EXPECT_DOUBLE_EQ(paired_change({-1, -2, -3, -4, -5, -6}).p, 2.0 / 64);
  EXPECT_DOUBLE_EQ(paired_change({0, 0, 0}).p, 1);
}

TEST(RankTest, SetsByTheTables) {
  // Apart altogether, four of eight: 2 of 70 ways.
  EXPECT_DOUBLE_EQ(unpaired_change({1, 2, 3, 4}, {5, 6, 7, 8}).p, 2.0 / 70);
  EXPECT_DOUBLE_EQ(unpaired_change({5, 6, 7, 8}, {1, 2, 3, 4}).p, 2.0 / 70);
  EXPECT_DOUBLE_EQ(unpaired_change({1}, {2}).p, 1);
  EXPECT_DOUBLE_EQ(unpaired_change({3, 3, 3, 3}, {3, 3, 3, 3}).p, 1);
}

TEST(RankTest, TheChangeIsTheMiddleAndOneOutlierDoesNotMoveIt) {
  EXPECT_NEAR(paired_change({0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 5}).log_ratio, 0.1, 1e-12);
  EXPECT_NEAR(unpaired_change({1, 1.1, 0.9, 1}, {1.5, 1.6, 1.4, 99}).log_ratio, 0.5, 0.11);
}

TEST(RankTest, TheRangeByTheTables) {
  // Of six pairs that without the least and the most of the means of two: all of them.
  const Change six = paired_change({1, 2, 3, 4, 5, 6});
  ASSERT_TRUE(six.range);
  EXPECT_EQ(*six.range, std::pair(1.0, 6.0));
  EXPECT_FALSE(paired_change({1, 2, 3, 4, 5}).range);  // no range is sure enough
  const Change sets = unpaired_change({1, 2, 3, 4}, {5, 6, 7, 8});
  ASSERT_TRUE(sets.range);
  EXPECT_EQ(*sets.range, std::pair(1.0, 7.0));
  EXPECT_FALSE(unpaired_change({1, 2, 3}, {5, 6, 7}).range);
}

// 0..1
double share(std::mt19937_64& random) { return static_cast<double>(random() >> 11U) * 0x1p-53; }

TEST(RankTest, ChanceAlonePassesAsSeldomAsItSays) {
  std::mt19937_64 random(3);
  constexpr int kTrials = 400;
  int pairs = 0, sets = 0, missed = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    vector<double> differences, before, after;
    for (int i = 0; i < 12; ++i) {
      differences.push_back(share(random) - 0.5);
      before.push_back(share(random));
      after.push_back(share(random));
    }
    const Change change = paired_change(differences);
    if (change.p < 0.05) ++pairs;
    if (change.range && (change.range->first > 0 || change.range->second < 0)) ++missed;
    if (unpaired_change(before, after).p < 0.05) ++sets;
  }
  EXPECT_LE(pairs, kTrials * 8 / 100);
  EXPECT_LE(sets, kTrials * 8 / 100);
  EXPECT_LE(missed, kTrials * 8 / 100);
}

TEST(RankTest, ExactAndNormalMeet) {
  vector<double> few, many;
  for (int i = 1; i <= 40; ++i) few.push_back(i % 3 == 0 ? -i : i);
  many = few;
  many.push_back(0.5);  // of the least rank
  EXPECT_NEAR(paired_change(few).p, paired_change(many).p, 0.02);
  EXPECT_TRUE(paired_change(many).range);
  vector<double> before, after;
  for (int i = 0; i < 15; ++i) {
    before.push_back(i);
    after.push_back(i + 3.5);
  }
  const double exact = unpaired_change(before, after).p;
  before.push_back(7.25);
  EXPECT_NEAR(exact, unpaired_change(before, after).p, 0.02);
}

TEST(RankTest, ManyValuesAreThinned) {
  EXPECT_EQ(paired_change(vector<double>(10'000, 0.25)).count, kRankedMax);
  EXPECT_DOUBLE_EQ(paired_change(vector<double>(10'000, 0.25)).log_ratio, 0.25);
}

TEST(RankTest, OfManyTestsSomeAreChance) {
  EXPECT_THAT(
      adjusted({0.01, 0.5, 0.02}),
      ElementsAre(DoubleNear(0.03, 1e-12), DoubleNear(0.5, 1e-12), DoubleNear(0.03, 1e-12)));
  EXPECT_THAT(adjusted({}), ElementsAre());
}

}  // namespace
}  // namespace plimsoll::analysis

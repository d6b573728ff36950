#include "estimator/exhaustive_buckets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace plimsoll::bench {
namespace {

using ::testing::ElementsAre;

std::set<double> drawn(const ExhaustiveBuckets& buckets) {
  std::mt19937_64 chance{1};
  std::set<double> tops;
  for (int i = 0; i < 1000; ++i) tops.insert(buckets.choose(chance));
  return tops;
}

TEST(ExhaustiveBuckets, OneIsWhatWasSeen) {
  ExhaustiveBuckets buckets;
  buckets.learn(100);
  EXPECT_THAT(drawn(buckets), ElementsAre(100));
}

TEST(ExhaustiveBuckets, WhatIsFarApartIsInBucketsOfItsOwn) {
  ExhaustiveBuckets buckets;
  for (const double peak : {100, 1000, 104, 990, 102, 995}) buckets.learn(peak);
  EXPECT_THAT(drawn(buckets), ElementsAre(104, 1000));
}

TEST(ExhaustiveBuckets, WhatIsCloseTogetherIsInOne) {
  ExhaustiveBuckets buckets;
  for (const double peak : {100, 101, 104, 99, 102, 103}) buckets.learn(peak);
  EXPECT_THAT(drawn(buckets), ElementsAre(104));
}

TEST(ExhaustiveBuckets, WhoOutgrowsOneDrawsAmongThoseAbove) {
  ExhaustiveBuckets buckets;
  for (const double peak : {100, 1000, 104, 990, 102, 995}) buckets.learn(peak);
  std::mt19937_64 chance{1};
  EXPECT_EQ(buckets.choose_above(104, chance), 1000);
  EXPECT_EQ(buckets.choose_above(1000, chance), std::nullopt);
}

}  // namespace
}  // namespace plimsoll::bench

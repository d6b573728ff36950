#include "policy/queue/timeout.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "policy/queue/queue.h"

namespace plimsoll::policy {
namespace {

using namespace std::chrono_literals;

RC_GTEST_PROP(RunningMedian, IsTheMiddleOfTheSortedValues, (const std::vector<int>& values)) {
  RunningMedian median;
  std::vector<std::int64_t> sorted;
  for (const int value : values) {
    median.add(Duration(value));
    sorted.push_back(value);
    std::sort(sorted.begin(), sorted.end());
    const std::size_t middle = (sorted.size() - 1) / 2;
    const std::int64_t low = sorted[middle];
    const std::int64_t high = sorted[sorted.size() / 2];
    RC_ASSERT(median.value() == Duration(low + (high - low) / 2));
  }
  RC_ASSERT(median.count() == values.size());
  RC_ASSERT(median.value().has_value() == !values.empty());
}

TEST(TimeoutBy, FollowsTheMedianOnceThereAreThreeResults) {
  RunningMedian median;
  const TimeoutPolicy twice = MedianPercent{200};
  median.add(1s);
  median.add(10s);
  EXPECT_EQ(timeout_by(twice, median), std::nullopt);
  median.add(3s);
  EXPECT_EQ(timeout_by(twice, median), 6s);
  median.add(5s);
  EXPECT_EQ(timeout_by(twice, median), 8s);
}

TEST(TimeoutBy, IsFixedOrAbsentWithoutData) {
  EXPECT_EQ(timeout_by(Duration(7s), {}), 7s);
  EXPECT_EQ(timeout_by({}, {}), std::nullopt);
}

TEST(TimeoutBy, NeverOverflows) {
  RunningMedian median;
  for (int i = 0; i < 3; ++i) median.add(Duration::max());
  EXPECT_GT(timeout_by(MedianPercent{1e18}, median), Duration(24h));
}

TEST(BackoffAfter, DoublesUpToItsCap) {
  static_assert(backoff_after(1) == 1s);
  static_assert(backoff_after(2) == 2s);
  static_assert(backoff_after(5) == 16s);
  static_assert(backoff_after(7) == kBackoffMax);
  static_assert(backoff_after(4000000000) == kBackoffMax);
}

TEST(Slots, TheLowestFreeOneFirst) {
  Slots slots;
  EXPECT_EQ(slots.take(), 1u);
  EXPECT_EQ(slots.take(), 2u);
  EXPECT_EQ(slots.take(), 3u);
  slots.give_back(3);
  slots.give_back(1);
  EXPECT_EQ(slots.take(), 1u);
  EXPECT_EQ(slots.take(), 3u);
  EXPECT_EQ(slots.take(), 4u);
}

}  // namespace
}  // namespace plimsoll::policy

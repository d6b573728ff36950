// When the next look is due, by what is left and how it grows.

#include "kernel/monitor/poll_interval.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::monitor {
namespace {

using namespace std::chrono_literals;
using namespace plimsoll::literals;

constexpr Instant kStart{1000s};
constexpr Duration kCheap = 50us;
constexpr Bounds kBounds{1_GiB, 256_MiB};

Reading at(Duration when, std::optional<Bytes> used, std::optional<Bytes> available = 100_GiB) {
  return {.at = kStart + when, .bounds = kBounds, .used = used, .available = available};
}

TEST(Headroom, IsOfTheNearerBound) {
  EXPECT_EQ(headroom_of(at(0s, 824_MiB)), 200_MiB);
  EXPECT_EQ(headroom_of(at(0s, 824_MiB, 300_MiB)), 44_MiB);
  EXPECT_EQ(headroom_of(at(0s, {}, 300_MiB)), 44_MiB);
  EXPECT_EQ(headroom_of(at(0s, 2_GiB, 300_MiB)), 0_MiB);
  EXPECT_EQ(headroom_of(at(0s, {}, {})), std::nullopt);
}

TEST(Headroom, IsNearWithinAnEighthOfTheLine) {
  EXPECT_FALSE(is_near(at(0s, 895_MiB)));
  EXPECT_TRUE(is_near(at(0s, 896_MiB)));
  EXPECT_TRUE(is_near(at(0s, 0_MiB, 384_MiB)));
  EXPECT_FALSE(is_near(at(0s, {}, {})));
}

TEST(PollInterval, FarFromTheLineIsSlow) {
  PollInterval pace;
  EXPECT_EQ(pace.after(at(0s, 0_MiB), kCheap, Backing::event), kGapMax);
}

TEST(PollInterval, AtTheLineIsFast) {
  PollInterval pace;
  EXPECT_EQ(pace.after(at(0s, 1_GiB), kCheap, Backing::event), kGapMin);
  EXPECT_EQ(pace.after(at(0s, 3_GiB), kCheap, Backing::event), kGapMin);
}

TEST(PollInterval, TheMachineCountsAsMuchAsThePool) {
  PollInterval pace;
  EXPECT_EQ(pace.after(at(0s, 0_MiB, 256_MiB), kCheap, Backing::event), kGapMin);
}

TEST(PollInterval, WithoutAnEventMonitorBurstsAreExpected) {
  PollInterval backed, alone;
  const Reading half = at(0s, 824_MiB);  // 200 MiB left
  EXPECT_EQ(backed.after(half, kCheap, Backing::event), 131072us);
  EXPECT_NEAR(static_cast<double>(alone.after(half, kCheap, Backing::none).count()), 13.1e6, 1e5);
}

TEST(PollInterval, GrowthIsFollowed) {
  PollInterval pace;
  std::ignore = pace.after(at(0s, 0_MiB), kCheap, Backing::event);
  // 2000 MiB/s, 824 MiB left: 0.2 s by twice that, four looks in it.
  const Duration gap = pace.after(at(100ms, 200_MiB), kCheap, Backing::event);
  EXPECT_NEAR(static_cast<double>(gap.count()), 51.5e6, 1e6);
  EXPECT_NEAR(pace.growth(), 2000.0 * (1 << 20), 1e6);
}

TEST(PollInterval, GrowthIsForgottenByHalves) {
  PollInterval pace;
  std::ignore = pace.after(at(0s, 0_MiB), kCheap, Backing::event);
  std::ignore = pace.after(at(100ms, 200_MiB), kCheap, Backing::event);
  const double before = pace.growth();
  std::ignore = pace.after(at(200ms, 200_MiB), kCheap, Backing::event);
  EXPECT_DOUBLE_EQ(pace.growth(), before / 2);
}

// Counters move in batches: a step between two looks at almost the same time is no growth.
TEST(PollInterval, LooksTooCloseTogetherSayNothingOfGrowth) {
  PollInterval pace;
  std::ignore = pace.after(at(0s, 0_MiB), kCheap, Backing::event);
  std::ignore = pace.after(at(1ms, 8_MiB), kCheap, Backing::event);
  EXPECT_EQ(pace.growth(), 0);
}

TEST(PollInterval, CostlyLooksAreMadeLessOften) {
  PollInterval pace;
  EXPECT_EQ(pace.after(at(0s, 1_GiB), 2ms, Backing::event), 20ms);
  EXPECT_EQ(pace.after(at(1s, 1_GiB), 1s, Backing::event), kGapCostMax);
}

TEST(PollInterval, NothingKnownIsSlow) {
  PollInterval pace;
  EXPECT_EQ(pace.after(at(0s, {}, {}), kCheap, Backing::none), kGapMax);
}

// A job that grows at up to 400 MB/s is looked at at least once in the last eighth before the line,
// without any event.
TEST(PollInterval, SteadyGrowthIsSeenBeforeTheLine) {
  for (const double rate : {50e6, 100e6, 400e6}) {
    PollInterval pace;
    Duration now{};
    unsigned looks_near = 0;
    for (;;) {
      const double seconds = std::chrono::duration<double>(now).count();
      const Bytes used{static_cast<std::uint64_t>(rate * seconds)};
      const Reading reading = at(now, used);
      if (used >= kBounds.line) break;
      if (is_near(reading)) ++looks_near;
      now += pace.after(reading, kCheap, Backing::event);
    }
    EXPECT_GE(looks_near, 4u) << rate;
  }
}

}  // namespace
}  // namespace plimsoll::monitor

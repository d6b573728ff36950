#include "policy/governor/running_set.h"

#include <gtest/gtest.h>

namespace plimsoll::policy {
namespace {

using namespace std::chrono_literals;

constexpr Tenant kAlice{1001}, kBob{1002};

TEST(RecentUse, WhoUsesTheSameForLongHasUsedThat) {
  RecentUse recent;
  for (int i = 1; i <= 600; ++i) recent.used(kAlice, 150ms, Instant{} + i * 100ms);
  EXPECT_NEAR(recent.cores(kAlice, Instant{} + 60s), 1.5, 0.05);
  EXPECT_EQ(recent.cores(kBob, Instant{} + 60s), 0);
}

TEST(RecentUse, HalfIsForgottenInAWhile) {
  RecentUse recent;
  recent.used(kAlice, 10s, Instant{});
  const double at_once = recent.cores(kAlice, Instant{});
  EXPECT_DOUBLE_EQ(recent.cores(kAlice, Instant{} + RecentUse::kForgotten), at_once / 2);
  EXPECT_NEAR(recent.cores(kAlice, Instant{} + 100 * RecentUse::kForgotten), 0, 1e-9);
}

// Ten jobs of a tenth of a second are one of a second.
TEST(RecentUse, ItIsTheSumThatCounts) {
  RecentUse many, one;
  for (int i = 0; i < 10; ++i) many.used(kAlice, 100ms, Instant{});
  one.used(kAlice, 1s, Instant{});
  EXPECT_DOUBLE_EQ(many.cores(kAlice, Instant{}), one.cores(kAlice, Instant{}));
}

}  // namespace
}  // namespace plimsoll::policy

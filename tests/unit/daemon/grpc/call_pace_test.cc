#include "daemon/grpc/call_pace.h"

#include <gtest/gtest.h>

namespace plimsoll::daemon {
namespace {

constexpr policy::Tenant kAnn{1001}, kBen{1002};
constexpr Instant kNoon = Instant{} + std::chrono::hours(1);
constexpr Duration kMilli = std::chrono::milliseconds(1);

TEST(CallPace, WhoIsAloneIsNotDelayed) {
  CallPace pace;
  pace.came(kAnn, kNoon);
  pace.spent(kAnn, 500 * kMilli, kNoon);
  EXPECT_EQ(pace.next(kAnn, kNoon), kNoon);
}

TEST(CallPace, WhatWasSpentAloneIsNotPaidForLater) {
  CallPace pace;
  pace.came(kAnn, kNoon);
  for (int i = 0; i < 100; ++i) pace.spent(kAnn, 50 * kMilli, kNoon);
  pace.came(kBen, kNoon);
  EXPECT_EQ(pace.next(kAnn, kNoon), kNoon);
}

TEST(CallPace, BesideOthersOneHasATenth) {
  CallPace pace;
  pace.came(kAnn, kNoon);
  Instant now = kNoon;
  int calls = 0;
  while (now < kNoon + std::chrono::seconds(30)) {
    pace.came(kBen, now);
    if (pace.next(kAnn, now) <= now) {
      pace.spent(kAnn, 10 * kMilli, now);
      ++calls;
    }
    now += 10 * kMilli;
  }
  const double share = calls * CallPace::kWholeWay * 9e-3 / 30;
  EXPECT_NEAR(share, 1.0 / CallPace::kPart, 0.01);
}

// However many there are, within the number.
TEST(CallPace, ShortCallsAreNotDelayed) {
  CallPace pace;
  for (Instant now = kNoon; now < kNoon + std::chrono::seconds(5); now += CallPace::kEach) {
    pace.came(kAnn, now);
    pace.came(kBen, now);
    EXPECT_EQ(pace.next(kAnn, now), now);
    pace.made(kAnn, now);
    pace.spent(kAnn, CallPace::kShort, now);
  }
}

// As on a stream.
TEST(CallPace, ShortMessagesAreNotCounted) {
  CallPace pace;
  for (int i = 0; i < 10'000; ++i) {
    pace.came(kAnn, kNoon);
    pace.came(kBen, kNoon);
    EXPECT_EQ(pace.next(kAnn, kNoon), kNoon);
    pace.spent(kAnn, CallPace::kShort, kNoon);
  }
}

TEST(CallPace, BesideOthersOneHasSoManyShortCalls) {
  CallPace pace;
  const Instant end = kNoon + std::chrono::seconds(10);
  pace.came(kAnn, kNoon);
  int calls = 0;
  for (Instant now = kNoon; now < end; now += kMilli / 10) {
    pace.came(kBen, now);
    if (pace.next(kAnn, now) > now) continue;
    pace.made(kAnn, now);
    ++calls;
  }
  const auto most = static_cast<int>((end - kNoon + CallPace::kAhead) / CallPace::kEach);
  EXPECT_NEAR(calls, most, 2);
}

// A job's submission, say: all at once.
TEST(CallPace, ABurstOfShortCallsIsNotDelayed) {
  CallPace pace;
  pace.came(kAnn, kNoon);
  pace.came(kBen, kNoon);
  for (int i = 0; i <= CallPace::kAhead / CallPace::kEach; ++i) {
    EXPECT_EQ(pace.next(kAnn, kNoon), kNoon);
    pace.made(kAnn, kNoon);
  }
  EXPECT_GT(pace.next(kAnn, kNoon + kMilli), kNoon + kMilli);
}

TEST(CallPace, WhoHasGoneHoldsNobodyBack) {
  CallPace pace;
  pace.came(kBen, kNoon);
  pace.came(kAnn, kNoon);
  pace.spent(kAnn, 100 * kMilli, kNoon);
  EXPECT_GT(pace.next(kAnn, kNoon), kNoon);
  const Instant later = kNoon + CallPace::kPresent + kMilli;
  EXPECT_EQ(pace.next(kAnn, later), later);
}

TEST(CallPace, TheHostIsNeverDelayed) {
  CallPace pace;
  pace.came(kAnn, kNoon);
  pace.came(policy::kHost, kNoon);
  pace.spent(policy::kHost, std::chrono::seconds(10), kNoon);
  EXPECT_EQ(pace.next(policy::kHost, kNoon), kNoon);
}

}  // namespace
}  // namespace plimsoll::daemon

#include "estimator/sizing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace plimsoll::policy {
namespace {

using std::chrono::seconds;

constexpr Bytes mb(double count) { return {static_cast<std::uint64_t>(count * 1e6)}; }

double first_mb(const Sizing& sizing, std::optional<Bytes> input = {}) {
  return static_cast<double>(sizing.first(input).count) / 1e6;
}

TEST(Sizing, ASingleAttemptIsNotTakenForTheWholeTruth) {
  Sizing sizing;
  EXPECT_FALSE(sizing.knows());
  sizing.learn({.peak = mb(1000), .ran = seconds(60)});
  EXPECT_TRUE(sizing.knows());
  EXPECT_GT(first_mb(sizing), 1000);
  EXPECT_LT(first_mb(sizing), 1300);
}

TEST(Sizing, AttemptsThatAreAllAlikeNeedHardlyMoreThanTheyUse) {
  Sizing sizing;
  for (int i = 0; i < 50; ++i) sizing.learn({.peak = mb(41'000 + i % 5), .ran = seconds(60)});
  EXPECT_GT(first_mb(sizing), 41'004);
  EXPECT_LT(first_mb(sizing), 41'004 * 1.02);
}

TEST(Sizing, TheInputIsUsedWhereItExplainsThePeak) {
  Sizing sizing;
  for (int i = 0; i < 60; ++i) {
    const int size = 1 + i * 7 % 20;
    sizing.learn({.peak = mb(200.0 * size + 300), .ran = seconds(60), .input = mb(10.0 * size)});
  }
  EXPECT_GT(first_mb(sizing, mb(30)), 900);
  EXPECT_LT(first_mb(sizing, mb(30)), 1400);
  EXPECT_GT(first_mb(sizing, mb(200)), 4300);
  EXPECT_LT(first_mb(sizing, mb(200)), 5200);
}

TEST(Sizing, AnAttemptThatUsedNothingDoesNotMakeErrorsOfOthersHuge) {
  Sizing sizing;
  sizing.learn({.peak = mb(0), .ran = seconds(1)});
  sizing.learn({.peak = mb(300), .ran = seconds(1)});
  EXPECT_GT(first_mb(sizing), 300);
  EXPECT_LE(first_mb(sizing), 600);
}

// Reserving the most ever seen would fail once, and waste two thirds of nearly every reservation.
TEST(Sizing, AFailureHasAPriceAndIsPaidWhereThatCostsLess) {
  Sizing rare, often;
  for (int i = 0; i < 120; ++i) {
    rare.learn({.peak = mb(i % 20 == 9 ? 3000 : 100), .ran = seconds(60)});
    often.learn({.peak = mb(i % 2 == 1 ? 3000 : 1000), .ran = seconds(60)});
  }
  EXPECT_LT(first_mb(rare), 500);
  EXPECT_GE(first_mb(often), 3000);
}

TEST(Sizing, WithoutAnInputItReservesForThoseBefore) {
  Sizing sizing;
  for (int i = 0; i < 60; ++i) {
    sizing.learn({.peak = mb(i % 2 == 0 ? 900 : 1000), .ran = seconds(60), .input = mb(10)});
  }
  EXPECT_GT(first_mb(sizing), 1000);
  EXPECT_LT(first_mb(sizing), 1100);
}

TEST(Sizing, AFailureGoesToTheMostEverSeenAndThenBeyond) {
  Sizing sizing;
  for (int i = 0; i < 30; ++i) sizing.learn({.peak = mb(i == 20 ? 1000 : 100), .ran = seconds(60)});
  EXPECT_GE(sizing.after(mb(120)), mb(1000));
  EXPECT_LT(sizing.after(mb(120)), mb(1100));
  EXPECT_GE(sizing.after(mb(1100)), mb(1500));
}

RC_GTEST_PROP(Sizing, TriesAfterAFailureGrowPastAnyPeak, ()) {
  Sizing sizing;
  const auto count = *rc::gen::inRange(1, 40);
  for (int i = 0; i < count; ++i) {
    SizedJob job{.peak = {*rc::gen::inRange<std::uint64_t>(0, 1ULL << 38)},
                 .ran = seconds(*rc::gen::inRange(0, 100'000))};
    if (*rc::gen::arbitrary<bool>()) job.input = {*rc::gen::inRange<std::uint64_t>(0, 1ULL << 40)};
    sizing.learn(job);
  }
  Bytes reserved = sizing.first(Bytes{*rc::gen::inRange<std::uint64_t>(0, 1ULL << 40)});
  RC_ASSERT(reserved.count > 0);
  for (int i = 0; i < 40; ++i) {
    const Bytes next = sizing.after(reserved);
    RC_ASSERT(next > reserved);
    reserved = next;
  }
  RC_ASSERT(reserved > Bytes{1ULL << 38});
}

}  // namespace
}  // namespace plimsoll::policy

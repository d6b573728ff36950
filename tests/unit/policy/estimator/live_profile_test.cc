#include "policy/estimator/live_profile.h"

#include <gtest/gtest.h>

namespace plimsoll::policy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Bytes kMib{1ULL << 20};
constexpr Bytes mib(std::uint64_t count) { return {count * kMib.count}; }

TEST(LiveProfile, KnowsNothingAtFirst) {
  const LiveProfile live_profile;
  EXPECT_FALSE(live_profile.has_samples());
  EXPECT_EQ(live_profile.used(), Bytes{});
  EXPECT_EQ(live_profile.cores(), 0);
}

TEST(LiveProfile, FollowsASteadyGrowth) {
  LiveProfile live_profile;
  for (int i = 0; i <= 200; ++i) {
    live_profile.observe(
        {.ran = milliseconds(100 * i), .used = mib(10 + static_cast<std::uint64_t>(i))});
  }
  EXPECT_NEAR(live_profile.growth() / static_cast<double>(kMib.count), 10, 0.5);
  EXPECT_LT(live_profile.calm(), seconds(2));
  EXPECT_EQ(live_profile.rising(), seconds(20));
  EXPECT_LT(live_profile.wobble(), static_cast<double>(kMib.count));
}

TEST(LiveProfile, WhatItWantsInItsFirstMillisecondsIsSoonForgotten) {
  LiveProfile live_profile;
  live_profile.observe(
      {.ran = milliseconds(10), .cpu = milliseconds(3), .cpu_wait = milliseconds(7)});
  EXPECT_NEAR(live_profile.cores_wanted_lately(), 1, 0.05);
  live_profile.observe(
      {.ran = milliseconds(500), .cpu = milliseconds(3), .cpu_wait = milliseconds(7)});
  EXPECT_LT(live_profile.cores_wanted_lately(), 0.03);
  EXPECT_LT(live_profile.cores_lately(), 0.01);
}

TEST(LiveProfile, IsCalmWhileItsPeakOnlyCreeps) {
  LiveProfile live_profile;
  live_profile.observe({.ran = seconds(0), .used = mib(100)});
  for (int i = 1; i <= 100; ++i) {
    live_profile.observe({.ran = seconds(i), .used = mib(100 + static_cast<std::uint64_t>(i) / 5)});
  }
  EXPECT_EQ(live_profile.calm(), seconds(100));
  EXPECT_EQ(live_profile.rising(), Duration{});
}

TEST(LiveProfile, ARiseAfterACalmIsANewOne) {
  LiveProfile live_profile;
  live_profile.observe({.ran = seconds(0), .used = mib(100)});
  live_profile.observe({.ran = seconds(100), .used = mib(100)});
  live_profile.observe({.ran = seconds(101), .used = mib(200)});
  EXPECT_EQ(live_profile.rising(), seconds(1));
  EXPECT_EQ(live_profile.calm(), Duration{});
}

TEST(LiveProfile, SeesAPeakBetweenTwoSamples) {
  LiveProfile live_profile;
  live_profile.observe({.ran = seconds(1), .used = mib(10), .peak = mib(90)});
  EXPECT_EQ(live_profile.peak(), mib(90));
  EXPECT_EQ(live_profile.used(), mib(10));
}

TEST(LiveProfile, ASampleThatIsNotLaterOnlyRaisesThePeak) {
  LiveProfile live_profile;
  live_profile.observe({.ran = seconds(2), .used = mib(10)});
  live_profile.observe({.ran = seconds(2), .used = mib(50)});
  EXPECT_EQ(live_profile.used(), mib(10));
  EXPECT_EQ(live_profile.peak(), mib(50));
}

TEST(LiveProfile, TellsMeanCoresFromThoseOfLate) {
  LiveProfile live_profile;
  for (int i = 0; i <= 20; ++i) live_profile.observe({.ran = seconds(i), .cpu = seconds(4 * i)});
  for (int i = 21; i <= 60; ++i) {
    live_profile.observe({.ran = seconds(i), .cpu = seconds(80) + seconds(i - 20)});
  }
  EXPECT_NEAR(live_profile.cores(), 2, 0.01);
  EXPECT_NEAR(live_profile.cores_lately(), 1, 0.01);
}

TEST(LiveProfile, MeasuresHowMuchItWobbles) {
  LiveProfile live_profile;
  for (int i = 0; i < 300; ++i) {
    live_profile.observe({.ran = seconds(i), .used = mib(1000 + (i % 2 == 0 ? 0U : 100U))});
  }
  const double wobble = live_profile.wobble() / static_cast<double>(kMib.count);
  EXPECT_GT(wobble, 30);
  EXPECT_LT(wobble, 120);
}

// On a machine that others keep busy: what little is left of the time tells nothing. The first look
// says so already, as a job that has had no core yet is no small one.
TEST(LiveProfile, WhoWaitsNearlyAlwaysWantsACore) {
  for (const double waited : {0.8, 0.95, 0.99, 1.0}) {
    LiveProfile live_profile;
    live_profile.observe(
        {.ran = std::chrono::seconds(1),
         .cpu = std::chrono::milliseconds(1),
         .cpu_wait = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(waited))});
    EXPECT_GT(live_profile.cores_wanted_lately(), 0.75) << waited;
    EXPECT_LE(live_profile.cores_wanted_lately(), 1.01) << waited;
  }
}

// Who sleeps most of the time wants little, be it that he waits each time he wakes.
TEST(LiveProfile, WhoWaitsALittleWantsWhatHeUses) {
  LiveProfile live_profile;
  live_profile.observe({.ran = std::chrono::seconds(1),
                        .cpu = std::chrono::milliseconds(10),
                        .cpu_wait = std::chrono::milliseconds(200)});
  EXPECT_NEAR(live_profile.cores_wanted_lately(), 0.0125, 0.001);
}

}  // namespace
}  // namespace plimsoll::policy

#include "policy/estimator/showing.h"

#include <gtest/gtest.h>

#include "governor_story.h"
#include "policy/estimator/estimator.h"

namespace plimsoll::policy {
namespace {

using namespace std::chrono_literals;

constexpr double kShownMib = 1 << 20;

// An attempt that was looked at ten times a second: memory and cores by the time.
template <class Memory>
LiveProfile track_of(Duration ran, Memory memory, double cores = 0, double waiting = 0) {
  LiveProfile live_profile;
  for (Duration at{}; at <= ran; at += 100ms) {
    const Bytes used = mib(memory(to_seconds(at)));
    const auto share = [at](double part) {
      return std::chrono::duration_cast<Duration>(
          std::chrono::duration<double>(to_seconds(at) * part));
    };
    live_profile.observe(
        {.ran = at, .used = used, .peak = used, .cpu = share(cores), .cpu_wait = share(waiting)});
  }
  return live_profile;
}

double stays_small(double /*seconds*/) { return 1; }
double keeps_growing(double seconds) { return 5 * seconds; }

Estimate another(const Estimator& estimator) { return estimator.estimate({"class", "tool"}, {}); }

void show_of(Estimator& estimator, const LiveProfile& live_profile) {
  estimator.show({"class", "tool"}, {}, showing_of(live_profile));
}

TEST(Showing, ManyThatStaySmallMakeTheClassSmallBeforeAnyHasEnded) {
  Estimator estimator;
  const double before = another(estimator).peak.mean;
  EXPECT_GT(before, 400 * kShownMib);
  for (int i = 0; i < 30; ++i) show_of(estimator, track_of(20s, stays_small));
  const Estimate after = another(estimator);
  EXPECT_LT(after.peak.mean + after.peak.spread, 60 * kShownMib);
  EXPECT_LT(after.cores.mean, 0.05);
  EXPECT_EQ(after.attempts_known, 0u);  // none has ended
}

TEST(Showing, WhoGrowsHasNotShownWhereItEnds) {
  Estimator estimator;
  const double before = another(estimator).peak.mean;
  for (int i = 0; i < 30; ++i) show_of(estimator, track_of(10s, keeps_growing));
  EXPECT_GT(another(estimator).peak.mean, 0.8 * before);
}

TEST(Showing, IsForgottenWithTheAttempt) {
  Estimator estimator;
  const Estimate before = another(estimator);
  const Showing showing = showing_of(track_of(20s, stays_small));
  for (int i = 0; i < 3; ++i) estimator.show({"class", "tool"}, {}, showing);
  EXPECT_LT(another(estimator).peak.mean, before.peak.mean / 2);
  for (int i = 0; i < 3; ++i) estimator.show({"class", "tool"}, showing, {});
  EXPECT_DOUBLE_EQ(another(estimator).peak.mean, before.peak.mean);
}

TEST(Showing, TimeSpentWaitingForACoreIsWanted) {
  // Half a core is all that it got of a busy machine.
  const LiveProfile live_profile = track_of(2s, stays_small, 0.5, 0.5);
  EXPECT_NEAR(live_profile.cores_lately(), 0.5, 0.01);
  EXPECT_NEAR(showing_of(live_profile).cores, 1, 0.01);
}

TEST(Showing, WhoSleepsAndIsWokenLateWantsNoMoreForIt) {
  // Each time that it wakes it waits for others: that is not what it would use of an idle machine.
  const LiveProfile live_profile = track_of(2s, stays_small, 0.01, 0.3);
  EXPECT_LT(showing_of(live_profile).cores, 0.02);
  EXPECT_LT(live_profile.cores_wanted(), 0.02);
}

TEST(Showing, LittleIsNoNews) {
  const Showing some = showing_of(track_of(20s, stays_small));
  EXPECT_TRUE(is_news({}, some));
  EXPECT_TRUE(is_news(some, {}));
  EXPECT_FALSE(is_news({}, {}));
  Showing same = some;
  same.peak *= 1.01;
  EXPECT_FALSE(is_news(some, same));
  same.peak *= 1.2;
  EXPECT_TRUE(is_news(some, same));
}

TEST(UnknownJobs, AFewFitBelowASmallLineSideBySide) {
  Estimator estimator;
  estimator.expect_below(mib(860));
  const Estimate unknown = another(estimator);
  EXPECT_LE(kUnknownBeside * (unknown.peak.mean + unknown.peak.spread), 860 * kShownMib);
  EXPECT_GT(unknown.peak.mean, 50 * kShownMib);
  // What the user says of a job is not bounded by what others would be.
  const Estimate hinted = estimator.estimate({"class", "tool"}, {.memory_hint = mib(700)});
  EXPECT_NEAR(hinted.peak.mean, 700 * kShownMib, kShownMib);
}

}  // namespace
}  // namespace plimsoll::policy

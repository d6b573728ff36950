// A job of a known kind needs no more than such jobs do, however uncertain it is when it does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "governor_story.h"
#include "policy/estimator/demand_forecast.h"
#include "policy/estimator/estimator.h"

namespace plimsoll::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

const Key kClass{"class", ""};

struct Point {
  double seconds, mib;
};

LiveProfile after(const std::vector<Point>& course) {
  LiveProfile live_profile;
  for (const Point& point : course) {
    live_profile.observe({.ran = at(point.seconds) - Instant{}, .used = mib(point.mib)});
  }
  return live_profile;
}

// Two bursts to 200 MiB; `scale` makes it larger.
std::vector<Point> bursts(double scale = 1) {
  return {{0, 2},
          {1, 20 * scale},
          {1.1, 200 * scale},
          {1.4, 200 * scale},
          {1.5, 20 * scale},
          {3, 20 * scale},
          {3.1, 200 * scale},
          {3.4, 200 * scale},
          {3.5, 20 * scale},
          {4, 20 * scale}};
}

Estimator with_past(int attempts) {
  Estimator estimator;
  for (int i = 0; i < attempts; ++i) {
    const std::vector<Point> course = bursts();
    const LiveProfile live_profile = after(course);
    AttemptSummary one{
        .key = kClass, .peak = live_profile.peak(), .ran = live_profile.ran(), .cores = 0.1};
    for (const Point& point : course) {
      one.curve.push_back({at(point.seconds) - Instant{}, mib(point.mib)});
    }
    estimator.learn(one);
  }
  return estimator;
}

double in_mib(double bytes) { return bytes / 1048576; }

TEST(Ceiling, OfARunningJobIsWhatItsKindNeeds) {
  const Estimator estimator = with_past(12);
  const Estimate before = estimator.estimate(kClass, {});
  ASSERT_TRUE(before.ceiling);
  EXPECT_NEAR(in_mib(before.ceiling->mean), 200, 5);
  // In its last burst: it has all of that now, or has had it.
  std::vector<Point> course = bursts();
  course.resize(8);
  const Estimate last = estimator.estimate(kClass, {}, after(course));
  ASSERT_TRUE(last.ceiling);
  EXPECT_NEAR(in_mib(last.ceiling->mean), 200, 5);
  EXPECT_LE(last.ceiling->spread, before.ceiling->spread);
}

TEST(Ceiling, IsNotKnownOfWhatIsNewOrLarger) {
  EXPECT_FALSE(Estimator().estimate(kClass, {}).ceiling);
  EXPECT_FALSE(with_past(2).estimate(kClass, {}).ceiling);
  std::vector<Point> course = bursts(2);
  course.resize(4);
  EXPECT_FALSE(with_past(12).estimate(kClass, {}, after(course)).ceiling);
}

// Has it its 200 MiB at some moment, or 20? Of three such jobs none ever has more than 210.
Estimate in_doubt() {
  Estimate estimate = flat({.mib = 200, .seconds = 100, .cores = 0.1, .spread = 10});
  for (Belief& ahead : estimate.ahead) ahead = {to_double(mib(150)), to_double(mib(90))};
  return estimate;
}

TEST(Ceiling, DoubtAboutWhenAddsUpToNoMoreThanThereIs) {
  Estimate estimate = in_doubt();
  DemandForecast open, bounded;
  for (int i = 0; i < 3; ++i) open.add(demand_of(estimate), true);
  estimate.ceiling = Belief{to_double(mib(200)), to_double(mib(10))};
  for (int i = 0; i < 3; ++i) bounded.add(demand_of(estimate), true);
  EXPECT_NEAR(in_mib(open.level(1, 2)), 450 + 2 * 90 * std::sqrt(3), 1);
  EXPECT_NEAR(in_mib(bounded.level(1, 2)), 600 + 2 * 10 * std::sqrt(3), 1);
  EXPECT_NEAR(in_mib(bounded.level(1, 0)), 450, 1) << "what is expected is as it was";
  bounded.add_constant(to_double(mib(100)));
  EXPECT_NEAR(in_mib(bounded.level(1, 2)), 700 + 2 * 10 * std::sqrt(3), 1);
}

TEST(Ceiling, WhoHasWhatItsKindNeedsIsNotExpectedToGrowOn) {
  for (const bool bounded : {false, true}) {
    Story story({.line = mib(860), .cores = 8, .jobs_max = 1000});
    for (unsigned id = 1; id <= 4; ++id) {
      story.waits(id, {.mib = 200, .seconds = 100, .cores = 0.1, .spread = 5});
      ASSERT_THAT(story.rules(0), ElementsAre("admit " + std::to_string(id)));
      Estimate estimate = flat({.mib = 185, .seconds = 1, .cores = 0.1, .spread = 54});
      if (bounded) estimate.ceiling = Belief{to_double(mib(200)), to_double(mib(5))};
      story.governor.expect(story.job(id), estimate, at(0));
    }
    for (unsigned id = 1; id <= 4; ++id) story.uses(id, 1.0, 150);
    story.samples(1.0);
    story.rules(1.0);
    for (unsigned id = 1; id <= 4; ++id) story.uses(id, 1.1, 200);
    story.samples(1.1);
    if (bounded) {
      EXPECT_THAT(story.rules(1.1), IsEmpty());
    } else {
      EXPECT_THAT(story.rules(1.1), Not(IsEmpty()));
    }
  }
}

// At the end of a job the pool may show more than the jobs have shown yet: once they were looked at
// too, somebody can start, and need not wait for the next of the usual rounds.
TEST(Rounds, AreHeldOnceMoreSoonAfterAnEnd) {
  Story story({.line = mib(1000), .cores = 8, .jobs_max = 1000});
  for (unsigned id = 1; id <= 3; ++id) {
    story.waits(id, {.mib = 300, .seconds = 100, .cores = 0.1, .spread = 3});
    ASSERT_THAT(story.rules(0), ElementsAre("admit " + std::to_string(id)));
  }
  story.waits(4, {.mib = 300, .seconds = 100, .cores = 0.1, .spread = 3});
  for (double t = 0.5; t < 10; t += 0.5) {
    for (unsigned id = 1; id <= 3; ++id) story.uses(id, t, 300);
    story.samples(t);
    EXPECT_THAT(story.rules(t), IsEmpty());
  }
  story.ends(1, 10.1);
  story.pool_has(750, 10.1);  // a hundred and fifty that nobody has shown
  EXPECT_THAT(story.rules(10.1), IsEmpty());
  ASSERT_TRUE(story.governor.next_wake());
  EXPECT_LE(*story.governor.next_wake(), at(10.4));
  story.samples(10.2);
  EXPECT_THAT(story.rules(to_seconds(*story.governor.next_wake() - Instant{})),
              ElementsAre("admit 4"));
}

}  // namespace
}  // namespace plimsoll::policy

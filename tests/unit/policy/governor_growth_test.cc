// How far the growth of jobs is taken to go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "governor_story.h"

namespace plimsoll::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

// Four that are known to need 200 each fit below the line, however fast they get there. Each may
// need 20 more; that all four do is most unlikely.
TEST(GovernorGrowth, WhoIsKnownToFitMayGrowAsFastAsHeLikes) {
  Story story({.line = mib(860), .cores = 8, .jobs_max = 1000});
  for (unsigned id = 1; id <= 4; ++id) {
    story.waits(id, {.mib = 200, .seconds = 100, .cores = 0.1, .spread = 20});
    ASSERT_THAT(story.rules(0), ElementsAre("admit " + std::to_string(id)));
  }
  for (double t = 0.1; t < 0.35; t += 0.1) {
    for (unsigned id = 1; id <= 4; ++id) story.uses(id, t, 600 * t + id);
    story.looks(t);
    EXPECT_THAT(story.rules(t), IsEmpty()) << t;
  }
  // Whoever has passed what was believed is believed no more.
  story.uses(2, 0.4, 225);
  story.looks(0.4);
  EXPECT_THAT(story.rules(0.4), Not(IsEmpty()));
}

// The pool is looked at more often than each of its jobs: what it has more by then is a part of
// what they were expected to grow by.
TEST(GovernorGrowth, GrowthIsNotCountedOnceForTheJobAndOnceForThePool) {
  Story story({.line = mib(860), .cores = 8, .jobs_max = 1000});
  for (unsigned id = 1; id <= 4; ++id) {
    story.waits(id, {.mib = 200, .seconds = 100, .cores = 0.1});
    ASSERT_THAT(story.rules(0), ElementsAre("admit " + std::to_string(id)));
  }
  story.looks(0.01);
  for (unsigned id = 1; id <= 4; ++id) story.uses(id, 0.1, 100);
  story.looks(0.1);
  EXPECT_THAT(story.rules(0.1), IsEmpty());
  story.pool_has(600, 0.15);
  EXPECT_THAT(story.rules(0.15), IsEmpty());
  // What is in the pool for longer is somebody else's.
  for (double t = 0.2; t < 2; t += 0.1) {
    for (unsigned id = 1; id <= 4; ++id) story.uses(id, t, 100 + t);
    story.pool_has(600, t);
    story.rules(t);
  }
  for (unsigned id = 1; id <= 4; ++id) story.uses(id, 2.1, 140);
  story.pool_has(760, 2.1);
  EXPECT_THAT(story.rules(2.1), Not(IsEmpty()));
}

}  // namespace
}  // namespace plimsoll::policy

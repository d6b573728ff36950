// How far the growth of jobs is taken to go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "governor_story.h"
#include "policy/estimator/demand_forecast.h"

namespace plimsoll::policy {
namespace {

using ::testing::Contains;
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
    story.samples(t);
    EXPECT_THAT(story.rules(t), IsEmpty()) << t;
  }
  // Whoever has passed what was believed may need more than there is.
  story.uses(2, 0.4, 225);
  story.samples(0.4);
  EXPECT_THAT(story.rules(0.4), Not(IsEmpty()));
}

// What is told when one of two that are known to need 200, and perhaps 20 more, comes to so much of
// 500 at 500 a second, beside one that has its 200.
std::vector<std::string> of_one_beyond(double used) {
  Story story({.line = mib(500), .cores = 8, .jobs_max = 1000});
  for (unsigned id = 1; id <= 2; ++id) {
    story.waits(id, {.mib = 200, .seconds = 100, .cores = 0.1, .spread = 20});
    EXPECT_THAT(story.rules(0), ElementsAre("admit " + std::to_string(id)));
  }
  for (const double t : {0.9, 1.0}) story.uses(1, t, 200);
  story.uses(2, 0.9, used - 50);
  story.uses(2, 1, used);
  story.samples(1);
  return story.rules(1);
}

// One in six comes beyond what is believed and a spread, and of those hardly any by four spreads
// more.
TEST(GovernorGrowth, WhoIsALittleBeyondWhatIsBelievedGrowsByALittleMore) {
  EXPECT_THAT(of_one_beyond(225), IsEmpty());
  EXPECT_THAT(of_one_beyond(285), ElementsAre("freeze 2"));
}

// What four unknown jobs are told to do when each has 50 of 300 and grows by 100 a second.
std::vector<std::string> of_unknown_growers(bool restartable) {
  Story story({.line = mib(300), .cores = 8, .jobs_max = 1000});
  for (unsigned id = 1; id <= 4; ++id) {
    story.waits(id, {.mib = 60, .seconds = 100, .cores = 0.1, .known = 0}, 0, 0, 0, restartable);
    EXPECT_THAT(story.rules(0), ElementsAre("admit " + std::to_string(id)));
  }
  for (const double t : {1.0, 1.1, 1.2, 1.3}) {
    for (unsigned id = 1; id <= 4; ++id) story.uses(id, t, 20 + 100 * (t - 1));
    story.samples(t);
    if (const auto rulings = story.rules(t); !rulings.empty()) return rulings;
  }
  return {};
}

// One of them could end, the others standing still, as long as 100 are free. Who can be run again
// may go on up to the line; whom an eviction would end for good stops in time.
TEST(GovernorGrowth, UnknownOnesThatCannotBeRunAgainLeaveOneOfThemAWayToItsEnd) {
  EXPECT_THAT(of_unknown_growers(false), ElementsAre("freeze 4", "freeze 3"));
  EXPECT_THAT(of_unknown_growers(true), IsEmpty());
}

// What two jobs that have 160 each of 1000, and add 200 a second each, are told if each is believed
// to come to `peak`.
std::vector<std::string> of_known_growers(double peak, bool restartable) {
  Story story({.line = mib(1000), .cores = 8, .jobs_max = 1000});
  for (unsigned id = 1; id <= 2; ++id) {
    story.waits(id, {.mib = 400, .seconds = 100, .cores = 0.1}, 0, 0, 0, restartable);
    EXPECT_THAT(story.rules(0), ElementsAre("admit " + std::to_string(id)));
  }
  for (const double t : {1.0, 1.1, 1.2}) {
    for (unsigned id = 1; id <= 2; ++id) story.uses(id, t, 100 + 200 * (t - 1));
    story.samples(t);
    EXPECT_THAT(story.rules(t), IsEmpty());
  }
  for (unsigned id = 1; id <= 2; ++id) {
    story.uses(id, 1.3, 160);
    story.governor.expect(story.job(id), flat({.mib = peak, .seconds = 100, .cores = 0.1}),
                          at(1.3));
  }
  story.samples(1.3);
  return story.rules(1.3);
}

// 680 are free. Either could still end by itself with 640 more; by the next look both have added
// 20, of which one would then be missing.
TEST(GovernorGrowth, KnownOnesThatCannotBeRunAgainCountWithWhatTheyAddUntilTheNextLook) {
  EXPECT_THAT(of_known_growers(780, false), IsEmpty());
  EXPECT_THAT(of_known_growers(800, false), ElementsAre("freeze 2"));
  EXPECT_THAT(of_known_growers(800, true), IsEmpty());
}

// What two unknown jobs are told when each has come to so much of 1000 in its first second.
std::vector<std::string> of_two_unknown_growers(double used, bool restartable) {
  Story story({.line = mib(1000), .cores = 8, .jobs_max = 1000});
  for (unsigned id = 1; id <= 2; ++id) {
    story.waits(id, {.mib = 60, .seconds = 100, .cores = 0.1, .known = 0}, 0, 0, 0, restartable);
    EXPECT_THAT(story.rules(0), ElementsAre("admit " + std::to_string(id)));
  }
  for (unsigned id = 1; id <= 2; ++id) story.uses(id, 1, used);
  story.samples(1);
  return story.rules(1);
}

TEST(GovernorGrowth, UnknownOnesThatCannotBeRunAgainCountWithWhatTheyAddUntilTheNextLook) {
  EXPECT_THAT(of_two_unknown_growers(290, false), IsEmpty());
  EXPECT_THAT(of_two_unknown_growers(300, false), ElementsAre("freeze 2"));
  EXPECT_THAT(of_two_unknown_growers(300, true), IsEmpty());
}

// Whether the one that comes to 180 of 400 in its first second, beside an older one, goes on;
// nobody knows more of it than that its user has said that it comes to so much at most.
bool goes_on(std::optional<double> told_mib) {
  Story story({.line = mib(400), .cores = 8, .jobs_max = 1000});
  for (unsigned id = 1; id <= 2; ++id) {
    story.waits(id, {.mib = 100, .seconds = 100, .cores = 0.1, .known = 0});
    EXPECT_THAT(story.rules(0), ElementsAre("admit " + std::to_string(id)));
  }
  Estimate estimate = flat({.mib = 200, .seconds = 100, .cores = 0.1, .known = 0});
  if (told_mib) estimate.told_most = to_double(mib(1)) * *told_mib;
  story.governor.expect(story.job(2), estimate, at(0.5));
  story.uses(1, 0.9, 20);
  story.uses(1, 1, 20);
  story.uses(2, 0.9, 1);
  story.uses(2, 1, 180);
  story.samples(1);
  const auto rulings = story.rules(1);
  if (rulings.empty()) return true;
  EXPECT_THAT(rulings, ElementsAre("freeze 2"));
  return false;
}

TEST(GovernorGrowth, WhoIsUnknownGrowsNoFurtherThanItsUserSays) {
  EXPECT_FALSE(goes_on(std::nullopt));
  EXPECT_TRUE(goes_on(200));
  EXPECT_TRUE(goes_on(180));
  EXPECT_TRUE(goes_on(300));
  EXPECT_FALSE(goes_on(500));
  // It has shown that it was wrong.
  EXPECT_FALSE(goes_on(170));
}

// What two unknown ones that can't be run again are told, as above, if it is said of both that they
// come to 400 at most.
TEST(GovernorGrowth, UnknownOnesCountForTheWayOutWithNoMoreThanIsSaidOfThem) {
  Story story({.line = mib(1000), .cores = 8, .jobs_max = 1000});
  Estimate estimate = flat({.mib = 60, .seconds = 100, .cores = 0.1, .known = 0});
  estimate.told_most = to_double(mib(400));
  for (unsigned id = 1; id <= 2; ++id) {
    story.waits(id, {.mib = 60, .seconds = 100, .cores = 0.1, .known = 0}, 0, 0, 0, false);
    EXPECT_THAT(story.rules(0), ElementsAre("admit " + std::to_string(id)));
    story.governor.expect(story.job(id), estimate, at(0));
  }
  for (unsigned id = 1; id <= 2; ++id) story.uses(id, 1, 300);
  story.samples(1);
  EXPECT_THAT(story.rules(1), IsEmpty());
}

// By how much one that has taken 300 at once, and nothing since, is believed to grow on, MiB.
double grows_on_after_a_burst(unsigned known) {
  Story story({.line = mib(1000), .cores = 8, .jobs_max = 1000});
  story.waits(1, {.mib = 280, .seconds = 100, .cores = 0.1, .spread = 50, .known = known});
  EXPECT_THAT(story.rules(0), ElementsAre("admit 1"));
  for (const double t : {0.1, 0.2, 0.3}) story.uses(1, t, 300);
  return story.job(1).member->rise.most / to_double(mib(1));
}

// What is believed of it says that it has come to its end; of the other nobody knows.
TEST(GovernorGrowth, WhoIsKnownAndStopsGrowingIsNotTakenToGoOn) {
  EXPECT_EQ(grows_on_after_a_burst(5), 0);
  EXPECT_GT(grows_on_after_a_burst(0), 50);
}

// What is frozen holds its memory either way; what others may need in ten seconds is no reason.
TEST(GovernorGrowth, AFrozenJobGoesOnWhileThereIsRoomForTheNextMoments) {
  Story story({.line = mib(860), .cores = 8, .jobs_max = 1000});
  for (unsigned id = 1; id <= 4; ++id) {
    story.waits(id, {.mib = 150, .seconds = 1000, .cores = 0.1, .known = 0});
    ASSERT_THAT(story.rules(0), ElementsAre("admit " + std::to_string(id)));
  }
  for (const double t : {0.8, 1.0}) {
    for (unsigned id = 1; id <= 4; ++id) story.uses(id, t, 180 + 25 * t);
    story.samples(t);
  }
  ASSERT_THAT(story.rules(1), Contains("freeze 2"));
  // The oldest has dropped nearly all; nobody knows how far it goes next time.
  Estimate estimate = flat({.mib = 700, .seconds = 1000, .cores = 0.1, .known = 0});
  for (std::size_t i = 0; i < kHorizonCount && kHorizons[i] <= std::chrono::seconds(2); ++i) {
    estimate.ahead[i] = {to_double(mib(50)), 0};
  }
  story.governor.expect(story.job(1), estimate, at(1.2));
  story.uses(1, 1.2, 20);
  story.uses(1, 1.6, 20);
  story.samples(1.6);
  EXPECT_THAT(story.rules(2.1), Contains("thaw 2"));
}

// The pool is looked at more often than each of its jobs: what it has more by then is a part of
// what they were expected to grow by.
TEST(GovernorGrowth, GrowthIsNotCountedOnceForTheJobAndOnceForThePool) {
  Story story({.line = mib(860), .cores = 8, .jobs_max = 1000});
  for (unsigned id = 1; id <= 4; ++id) {
    story.waits(id, {.mib = 200, .seconds = 100, .cores = 0.1});
    ASSERT_THAT(story.rules(0), ElementsAre("admit " + std::to_string(id)));
  }
  story.samples(0.01);
  for (unsigned id = 1; id <= 4; ++id) story.uses(id, 0.1, 100);
  story.samples(0.1);
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

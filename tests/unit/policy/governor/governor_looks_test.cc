#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "governor_crowd.h"

// When the looks that admissions wait for after a pause are to come at once.
namespace plimsoll::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Paused {
  std::uint32_t known = 10;
  bool restartable = true;
};

// Of a crowd at the line job 2 grows and is paused, and one more job waits.
Story beside_one_that_waits(const Paused& paused) {
  Story story(small());
  for (unsigned id = 1; id <= 8; ++id) {
    const bool is_paused = id == 2;
    story.waits(id,
                {.mib = 100, .seconds = 1000, .cores = 0.1, .known = is_paused ? paused.known : 10},
                0, 0, 0, !is_paused || paused.restartable);
    EXPECT_THAT(story.rules(id), ElementsAre("admit " + std::to_string(id)));
  }
  for (double t = 8.25; t <= 10; t += 0.25) {
    for (unsigned id = 1; id <= 8; ++id) story.uses(id, t, 100, id);
  }
  story.samples(10);
  story.waits(9, {.mib = 300, .seconds = 1000, .cores = 0.1}, 10);
  EXPECT_THAT(story.rules(10), IsEmpty());
  story.uses(2, 10.3, 200, 2);
  story.uses(2, 10.5, 260, 2);
  story.samples(10.5);
  EXPECT_THAT(story.rules(10.5), ElementsAre("freeze 2"));
  return story;
}

TEST(GovernorLooks, AreAwaitedAfterAPauseUntilAllWereLookedAt) {
  Story story = beside_one_that_waits({});
  EXPECT_TRUE(story.governor.awaits_looks(at(10.5)));
  for (const unsigned id : {1u, 3u, 4u, 5u, 6u, 7u, 8u}) story.uses(id, 10.6, 100, id);
  EXPECT_FALSE(story.governor.awaits_looks(at(10.6)));
}

// Whoever starts too soon beside it could be its end.
TEST(GovernorLooks, AreNotHurriedBesideOneThatCannotBeRunAgain) {
  Story story = beside_one_that_waits({.restartable = false});
  EXPECT_FALSE(story.governor.awaits_looks(at(10.5)));
}

TEST(GovernorLooks, AreNotHurriedBesideOneOfWhichNothingIsKnown) {
  Story story = beside_one_that_waits({.known = 0});
  EXPECT_FALSE(story.governor.awaits_looks(at(10.5)));
}

TEST(GovernorLooks, AreNotAwaitedWhileNobodyWaits) {
  Story story = crowd(small(), 8);
  ASSERT_NO_FATAL_FAILURE(grows_and_is_frozen(story, 2));
  EXPECT_FALSE(story.governor.awaits_looks(at(10.5)));
}

}  // namespace
}  // namespace plimsoll::policy

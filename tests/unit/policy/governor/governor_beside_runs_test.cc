// Other runs have a part of the line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "governor_story.h"
#include "policy/governor/governor.h"

namespace plimsoll::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

GovernorConfig alone() { return {.line = mib(1000), .cores = 8, .jobs_max = 1000}; }

TEST(GovernorBesideRuns, WhatIsKnownToNeedMoreThanOtherRunsLeaveWaitsForThem) {
  Story story(alone());
  story.waits(1, {.mib = 300, .spread = 3});
  story.governor.set_share({.line = mib(200), .cores = 8, .left_by_others = mib(200)});
  EXPECT_THAT(story.rules(0), IsEmpty());
  ASSERT_TRUE(story.governor.holding());
  EXPECT_EQ(story.governor.holding()->cause, HoldCause::memory);
  story.governor.set_share({.line = mib(310), .cores = 8, .left_by_others = mib(310)});
  EXPECT_THAT(story.rules(1), ElementsAre("admit 1"));
}

TEST(GovernorBesideRuns, WhatNobodyKnowsStartsInWhatOtherRunsLeave) {
  Story story(alone());
  story.waits(1, {.mib = 300, .spread = 300, .known = 0});
  story.governor.set_share({.line = mib(200), .cores = 8, .left_by_others = mib(200)});
  EXPECT_THAT(story.rules(0), ElementsAre("admit 1"));
}

TEST(GovernorBesideRuns, NothingStartsWhereOtherRunsAreAboutToAllocate) {
  Story story(alone());
  story.waits(1, {.mib = 300, .spread = 3});
  story.governor.set_share({.line = mib(1000), .cores = 8, .taken = mib(800)});
  EXPECT_THAT(story.rules(0), IsEmpty());
  ASSERT_TRUE(story.governor.holding());
  EXPECT_EQ(story.governor.holding()->cause, HoldCause::memory);
  EXPECT_EQ(story.governor.holding()->reason,
            "waits for other runs to tell what they need: they may be about to use 800 MiB of "
            "1000 MiB");
  story.governor.set_share({.line = mib(1000), .cores = 8});
  EXPECT_THAT(story.rules(1), ElementsAre("admit 1"));
}

// A word: it holds back starts, but not a first one, and has nobody paused.
TEST(GovernorBesideRuns, WhatOtherUsersRunsTellHoldsBackStartsAlone) {
  Story story(alone());
  story.governor.set_share({.line = mib(1000), .cores = 8, .told = mib(800)});
  story.waits(1, {.mib = 300, .spread = 3});
  story.waits(2, {.mib = 300, .spread = 3});
  EXPECT_THAT(story.rules(0), ElementsAre("admit 1"));
  ASSERT_TRUE(story.governor.holding());
  EXPECT_EQ(story.governor.holding()->cause, HoldCause::memory);
  EXPECT_THAT(story.governor.holding()->reason,
              ::testing::HasSubstr("; of that, runs of other users report 800 MiB"));
  for (double t = 1; t < 20; t += 0.1) {
    story.uses(1, t, 200 + 30 * t);
    story.samples(t);
    EXPECT_THAT(story.rules(t), IsEmpty());
  }
  story.governor.set_share({.line = mib(1200), .cores = 8});
  story.uses(1, 20, 800);
  story.samples(20);
  EXPECT_THAT(story.rules(20), ElementsAre("admit 2"));
}

TEST(GovernorBesideRuns, AnOnlyJobThatOtherRunsLeaveTooLittleForStartsAgainLater) {
  Story story({.line = mib(400), .cores = 8, .jobs_max = 1000});
  const Share beside_others = {.line = mib(60), .cores = 8, .left_by_others = mib(60)};
  story.governor.set_share(beside_others);
  story.waits(1, {.mib = 30, .spread = 100, .known = 0});
  EXPECT_THAT(story.rules(0), ElementsAre("admit 1"));
  std::vector<std::string> words;
  for (double t = 0.1; t < 1; t += 0.1) {
    story.uses(1, t, 80);
    story.samples(t);
    for (const std::string& word : story.rules(t)) words.push_back(word);
  }
  EXPECT_THAT(words, ElementsAre("reclaim", "evict 1"));
  story.ends(1, 1, Outcome::evicted);
  story.waits(1, {.mib = 80, .spread = 20, .known = 0}, 2, 0, 1);
  EXPECT_THAT(story.rules(2), IsEmpty());
  ASSERT_TRUE(story.governor.holding());
  EXPECT_EQ(story.governor.holding()->cause, HoldCause::memory);
  EXPECT_EQ(story.governor.holding()->reason,
            "waits for memory: it needs 80.0 MiB, and other runs leave only 60.0 MiB");
  story.governor.set_share({.line = mib(400), .cores = 8});
  EXPECT_THAT(story.rules(3), ElementsAre("admit 1"));
}

TEST(GovernorBesideRuns, AnOnlyJobIsPausedWhileAnElderRunGoesOn) {
  Story story({.line = mib(400), .cores = 8, .jobs_max = 1000});
  story.waits(1, {.mib = 30, .spread = 100, .known = 0});
  EXPECT_THAT(story.rules(0), ElementsAre("admit 1"));
  story.governor.set_share(
      {.line = mib(200), .cores = 8, .left_by_others = mib(200), .has_elder = true});
  std::vector<std::string> words;
  for (double t = 0.1; t < 2.8; t += 0.1) {
    story.uses(1, t, std::min(100 * t, 190.0));
    story.samples(t);
    for (const std::string& word : story.rules(t)) words.push_back(word);
  }
  EXPECT_THAT(words, ElementsAre("freeze 1"));
  // The elder has gone.
  story.governor.set_share({.line = mib(400), .cores = 8});
  EXPECT_THAT(story.rules(3), ElementsAre("thaw 1"));
}

// Eight sessions that start an unknown test suite each are as one that starts eight.
TEST(GovernorBesideRuns, TheSlowStartIsOneForAllRuns) {
  Story story(alone());
  story.governor.set_share({.line = mib(1000), .cores = 8, .unsettled = 4});
  story.waits(1, {.mib = 30, .spread = 30, .known = 0});
  EXPECT_THAT(story.rules(0), IsEmpty());
  ASSERT_TRUE(story.governor.holding());
  EXPECT_EQ(story.governor.holding()->cause, HoldCause::pace);
  EXPECT_EQ(story.governor.holding()->reason,
            "waits to see how much memory the 4 jobs just started, here and in other runs, need; "
            "jobs of this kind have not run before");
  story.waits(2, {.mib = 30});
  EXPECT_THAT(story.rules(1), ElementsAre("admit 2"));
  story.governor.set_share({.line = mib(1000), .cores = 8, .unsettled = 3});
  EXPECT_THAT(story.rules(2), ElementsAre("admit 1"));
  story.waits(3, {.mib = 30, .spread = 30, .known = 0}, 2);
  EXPECT_THAT(story.rules(3), IsEmpty());
}

TEST(GovernorBesideRuns, UnknownJobsOfOtherRunsHoldNobodyBackForEver) {
  Story story(alone());
  story.governor.set_share({.line = mib(1000), .cores = 8, .unsettled = 40});
  story.waits(1, {.mib = 30, .spread = 30, .known = 0});
  for (double t = 0; t < 60; t += 0.5) EXPECT_THAT(story.rules(t), IsEmpty());
  EXPECT_THAT(story.rules(60.5), ElementsAre("admit 1"));
}

TEST(GovernorBesideRuns, WhoIsPausedHasNotShownItsNeeds) {
  Story story({.line = mib(400), .cores = 8, .jobs_max = 1000});
  story.waits(1, {.mib = 30, .spread = 100, .known = 0});
  story.rules(0);
  story.governor.set_share(
      {.line = mib(200), .cores = 8, .left_by_others = mib(200), .has_elder = true});
  for (double t = 0.1; t < 2.8; t += 0.1) {
    story.uses(1, t, std::min(100 * t, 190.0));
    story.samples(t);
    story.rules(t);
  }
  ASSERT_TRUE(story.is_frozen(1));
  EXPECT_TRUE(story.job(1).member->is_unsettled());
  story.governor.set_share({.line = mib(400), .cores = 8});
  EXPECT_THAT(story.rules(3), ElementsAre("thaw 1"));
  for (const auto& [t, settled] : {std::pair(3.1, false), std::pair(3.3, true)}) {
    story.uses(1, t, 190);
    story.samples(t);
    story.rules(t);
    EXPECT_EQ(story.job(1).member->is_unsettled(), !settled) << t;
  }
}

TEST(GovernorBesideRuns, WhatNobodyKnowsWaitsWhereNothingIsLeft) {
  Story story(alone());
  story.waits(1, {.mib = 300, .spread = 300, .known = 0});
  story.governor.set_share({.line = mib(60), .cores = 8, .left_by_others = mib(10)});
  EXPECT_THAT(story.rules(0), IsEmpty());
  ASSERT_TRUE(story.governor.holding());
  EXPECT_EQ(story.governor.holding()->cause, HoldCause::memory);
}

// As the server that an agent has started first.
TEST(GovernorBesideRuns, ASmallJobIsNoReasonToSpareTheOtherNorToGoFirst) {
  Story story({.line = mib(400), .cores = 8, .jobs_max = 1000});
  story.waits(1, {.mib = 30, .spread = 100, .known = 0});
  EXPECT_THAT(story.rules(0), ElementsAre("admit 1"));
  EXPECT_EQ(story.governor.oldest(), at(0));
  for (double t = 0.1; t < 1; t += 0.1) {
    story.uses(1, t, 1);
    story.samples(t);
    EXPECT_THAT(story.rules(t), IsEmpty());
  }
  story.governor.expect(story.job(1), flat({.mib = 1}), at(1));
  story.waits(2, {.mib = 30, .spread = 100, .known = 0}, 1);
  EXPECT_THAT(story.rules(1), ElementsAre("admit 2"));
  EXPECT_EQ(story.governor.oldest(), at(1));
  EXPECT_EQ(story.governor.sizeable(), 1U);
  story.governor.set_share(
      {.line = mib(200), .cores = 8, .left_by_others = mib(200), .has_elder = true});
  std::vector<std::string> words;
  for (double t = 1.1; t < 3.8; t += 0.1) {
    story.uses(2, t, std::min(100 * (t - 1), 190.0), 1);
    story.samples(t);
    for (const std::string& word : story.rules(t)) words.push_back(word);
  }
  EXPECT_THAT(words, ElementsAre("freeze 2"));
}

TEST(GovernorBesideRuns, WhatIsSmallGoesByTheLineOfAllRunsAsItIsNow) {
  Story story({.line = mib(6400), .cores = 8, .jobs_max = 1000});
  story.waits(1, {.mib = 90});
  EXPECT_THAT(story.rules(0), ElementsAre("admit 1"));
  EXPECT_EQ(story.governor.sizeable(), 0U);
  story.governor.set_share({.line = mib(640), .cores = 8, .common_line = mib(6400)});
  EXPECT_EQ(story.governor.sizeable(), 0U);
  story.governor.set_share({.line = mib(640), .cores = 8});
  EXPECT_EQ(story.governor.sizeable(), 1U);
}

// It would wait for the server for ever.
TEST(GovernorAdmission, BesideSmallJobsOneIsAsGoodAsAlone) {
  const auto starts = [](unsigned servers) {
    Story story(alone());
    for (unsigned id = 1; id <= servers; ++id) story.waits(id, {.mib = 14, .seconds = 1e6});
    story.rules(0);
    for (unsigned id = 1; id <= servers; ++id) story.uses(id, 1, 14);
    story.samples(1);
    story.rules(1);
    story.waits(100, {.mib = 1200}, 1);
    return story.rules(2);
  };
  EXPECT_THAT(starts(1), ElementsAre("admit 100"));
  EXPECT_THAT(starts(4), ElementsAre("admit 100"));
  EXPECT_THAT(starts(5), IsEmpty());
}

TEST(GovernorBesideRuns, OfSeveralJobsTheOldestGoesOnBesideAnElderRun) {
  Story story({.line = mib(400), .cores = 8, .jobs_max = 1000});
  story.waits(1, {.mib = 30, .spread = 100, .known = 0});
  story.waits(2, {.mib = 30, .spread = 100, .known = 0});
  EXPECT_THAT(story.rules(0), ElementsAre("admit 1", "admit 2"));
  story.governor.set_share(
      {.line = mib(200), .cores = 8, .left_by_others = mib(200), .has_elder = true});
  std::vector<std::string> words;
  for (double t = 0.1; t < 1.5; t += 0.1) {
    story.uses(1, t, std::min(80 * t, 110.0));
    story.uses(2, t, std::min(80 * t, 85.0));
    story.samples(t);
    for (const std::string& word : story.rules(t)) words.push_back(word);
  }
  EXPECT_THAT(words, ::testing::Contains("freeze 2"));
  EXPECT_THAT(words, ::testing::Not(::testing::Contains("freeze 1")));
}

}  // namespace
}  // namespace plimsoll::policy

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "governor_story.h"

// Steps of one program, which may wait for each other.
namespace plimsoll::policy {
namespace {

using ::testing::ElementsAre;

enum class Awaited : bool { no, yes };

void waits(Story& story, unsigned id, Awaited awaited) {
  const Estimate estimate = flat({.mib = 400, .seconds = 1000, .cores = 0.1});
  story.governor.expect(Kind{id}, estimate);
  story.estimates[id] = estimate;
  story.enters({.job = JobId{id}, .kind = Kind{id}, .may_be_awaited = awaited == Awaited::yes});
}

// Three of 400 MiB; two fit below a line of 1000.
Story three_steps(Awaited awaited,
                  const GovernorConfig& config = {.line = mib(1000), .cores = 8, .jobs_max = 10}) {
  Story story(config);
  for (const unsigned id : {1u, 2u, 3u}) waits(story, id, awaited);
  EXPECT_THAT(story.rules(0), ElementsAre("admit 1", "admit 2"));
  return story;
}

// Whether the third starts while job 1 does nothing and job 2 computes until `busy_until`.
bool starts_third(Story& story, double busy_until, double until) {
  for (double t = 0.5; t <= until; t += 0.5) {
    const double busy = std::min(t, busy_until);
    for (const auto& [id, cpu] : {std::pair(1u, 0.5), std::pair(2u, busy)}) {
      story.governor.observe(
          story.job(id),
          {.ran = at(t) - at(0),
           .used = mib(100),
           .peak = mib(100),
           .cpu = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(cpu))},
          at(t));
      story.used[id] = 100;
    }
    story.samples(t);
    if (!story.rules(t).empty()) return true;
  }
  return false;
}

TEST(GovernorAwaited, AStepStartsWhereNothingThatRunsMakesProgress) {
  Story story = three_steps(Awaited::yes);
  EXPECT_FALSE(starts_third(story, 1, 5.5));
  EXPECT_TRUE(starts_third(story, 1, 6.5));
  EXPECT_EQ(story.reasons.front(),
            "nothing that runs makes progress, and it may be waiting for this one");
}

TEST(GovernorAwaited, AStepWaitsWhileOneOfThemMoves) {
  Story story = three_steps(Awaited::yes);
  EXPECT_FALSE(starts_third(story, 60, 60));
}

TEST(GovernorAwaited, NobodyWaitsForAJobOfItsOwn) {
  Story story = three_steps(Awaited::no);
  EXPECT_FALSE(starts_third(story, 1, 60));
}

// One after the other: the next only when the one before stands still, too.
TEST(GovernorAwaited, OnlyOneStartsAtATime) {
  Story story = three_steps(Awaited::yes);
  waits(story, 4, Awaited::yes);
  ASSERT_TRUE(starts_third(story, 1, 6.5));
  EXPECT_FALSE(starts_third(story, 1, 9));
}

TEST(GovernorAwaited, ItStartsBeyondTheNumberOfPlacesALittleLater) {
  Story story = three_steps(Awaited::yes, {.line = mib(9000), .cores = 8, .jobs_max = 2});
  EXPECT_FALSE(starts_third(story, 1, 14.5));
  EXPECT_EQ(story.governor.holding()->cause, HoldCause::places);
  EXPECT_TRUE(starts_third(story, 1, 15.5));
}

TEST(GovernorAwaited, ThereAreAtMostTwiceAsManyAsPlaces) {
  Story story = three_steps(Awaited::yes, {.line = mib(9000), .cores = 8, .jobs_max = 2});
  for (const unsigned id : {4U, 5U}) waits(story, id, Awaited::yes);
  EXPECT_TRUE(starts_third(story, 1, 15.5));
  EXPECT_TRUE(starts_third(story, 1, 31));
  EXPECT_FALSE(starts_third(story, 1, 100));
}

TEST(GovernorAwaited, AJobOfItsOwnStaysWithinThem) {
  Story story = three_steps(Awaited::no, {.line = mib(9000), .cores = 8, .jobs_max = 2});
  EXPECT_FALSE(starts_third(story, 1, 60));
}

// Nobody can be waiting for what its user has paused.
TEST(GovernorAwaited, WhatItsUserHasPausedMakesNoProgress) {
  Story story = three_steps(Awaited::yes);
  story.governor.pause(story.job(2), at(1));
  EXPECT_THAT(story.rules(1), ElementsAre("freeze 2"));
  EXPECT_FALSE(starts_third(story, 1, 5.5));
  EXPECT_TRUE(starts_third(story, 1, 6.5));
}

}  // namespace
}  // namespace plimsoll::policy

// Jobs that were frozen go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "governor_crowd.h"
#include "policy/governor/resume_policy.h"

namespace plimsoll::policy {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

TEST(GovernorDescent, ThawsWhenThereIsRoomAgainAndAdmitsOnlyThen) {
  Story story = crowd(small(), 8);
  ASSERT_NO_FATAL_FAILURE(grows_and_is_frozen(story, 8));
  story.waits(20, {.mib = 5, .seconds = 2000}, 10.6);
  EXPECT_THAT(story.rules(10.6), IsEmpty());
  EXPECT_EQ(story.governor.holding()->cause, HoldCause::calm);
  story.ends(3, 12.5);
  EXPECT_THAT(story.rules(12.5), ElementsAre("thaw 8"));
  EXPECT_THAT(story.reasons.front(), HasSubstr("room again"));
  EXPECT_THAT(story.rules(14), ElementsAre("admit 20"));
}

TEST(GovernorDescent, WhoBecomesTheKeelGoesOnAtOnce) {
  Story story = crowd(small(), 8);
  ASSERT_NO_FATAL_FAILURE(grows_and_is_frozen(story, 2));
  story.ends(1, 10.6);
  EXPECT_THAT(story.rules(10.6), ElementsAre("thaw 2"));
}

// The keel is looked at and has done nothing since it started.
void keel_stands_still(Story& story, double t) {
  story.governor.observe(story.job(1),
                         {.ran = at(t) - at(1),
                          .used = mib(100),
                          .peak = mib(100),
                          .cpu = std::chrono::milliseconds(100)},
                         at(t));
  story.samples(t);
}

TEST(GovernorDescent, AKeelThatStandsStillMayWaitForAFrozenJob) {
  Story story = crowd(small(), 8);
  ASSERT_NO_FATAL_FAILURE(grows_and_is_frozen(story, 2));
  std::vector<std::string> thawed;
  for (double t = 11; t < 17; t += 0.5) {
    // The others' memory leaves no room for a thaw.
    keel_stands_still(story, t);
    for (const std::string& word : story.rules(t)) thawed.push_back(word);
  }
  EXPECT_THAT(thawed, Contains("thaw 2"));
}

// Of paused jobs 2 and 3, which can't be run again, with so much to go: who goes on first where the
// keel, which stands still, may wait for one of them.
std::string first_to_unlock(double need_of_2, double need_of_3) {
  Story story(small());
  for (unsigned id = 1; id <= 8; ++id) {
    const bool restartable = id != 2 && id != 3;
    story.waits(id, {.mib = 100, .seconds = 1000, .cores = 0.1}, 0, 0, 0, restartable);
    EXPECT_THAT(story.rules(id), ElementsAre("admit " + std::to_string(id)));
  }
  for (double t = 8.25; t <= 10; t += 0.25) {
    for (unsigned id = 1; id <= 8; ++id) story.uses(id, t, 100, id);
  }
  story.samples(10);
  EXPECT_THAT(story.rules(10), IsEmpty());
  for (const double t : {10.3, 10.5}) {
    for (const unsigned id : {2u, 3u}) story.uses(id, t, 100 + 160 * (t - 10), id);
  }
  story.samples(10.5);
  EXPECT_THAT(story.rules(10.5), UnorderedElementsAre("freeze 2", "freeze 3"));
  for (const auto& [id, need] : {std::pair(2u, need_of_2), std::pair(3u, need_of_3)}) {
    story.governor.expect(story.job(id), flat({.mib = 180 + need, .seconds = 1000, .cores = 0.1}),
                          at(10.6));
  }
  for (double t = 11; t < 30; t += 0.5) {
    keel_stands_still(story, t);
    const auto words = story.rules(t);
    if (!words.empty()) return words.front() + ": " + story.reasons.front();
  }
  return "nobody";
}

// What is free is 40. An eviction of either would be its end.
TEST(GovernorDescent, OfThoseThatCannotBeRunAgainTheOneWhoseNeedFitsUnlocksTheKeelFirst) {
  EXPECT_THAT(first_to_unlock(200, 60), HasSubstr("thaw 3: the oldest job makes no progress"));
  EXPECT_THAT(first_to_unlock(60, 200), HasSubstr("thaw 2: the oldest job makes no progress"));
  EXPECT_THAT(first_to_unlock(200, 38), HasSubstr("thaw 3: the oldest job makes no progress"));
}

// Eight jobs of 110 MiB each below a line of 1,000, of which 2 and 3 can't be run again. The keel
// does nothing from second 10 on.
struct StandStill {
  // Jobs 2 and 3 can't be run again, and are expected to take `mib` MiB; the others use `others`.
  explicit StandStill(double mib = 100, double others = 110) {
    for (unsigned id = 1; id <= 8; ++id) {
      const bool restartable = id != 2 && id != 3;
      const double most = restartable ? 100 : mib;
      story.waits(id, {.mib = most, .seconds = 1000, .cores = 0.1}, 0, 0, 0, restartable);
      static_cast<void>(story.rules(id));
    }
    for (double t = 8.25; t <= 10; t += 0.25) {
      for (unsigned id = 1; id <= 8; ++id) story.uses(id, t, id == 2 || id == 3 ? 110 : others, id);
    }
  }

  // To `to` MiB until second t; it is expected to reach `then`.
  std::vector<std::string> grows_at_once(unsigned id, double t, double to, double then) {
    story.uses(id, t - 0.2, 110, id);
    story.uses(id, t, to, id);
    story.samples(t);
    auto words = story.rules(t);
    story.governor.expect(story.job(id), flat({.mib = then, .seconds = 1000, .cores = 0.1}), at(t));
    return words;
  }

  std::vector<std::string> goes_on(double from, double to) {
    std::vector<std::string> words;
    for (double t = from; t < to && words.empty(); t += 0.5) {
      keel_stands_still(story, t);
      words = story.rules(t);
    }
    return words;
  }

  Story story{small()};
};

TEST(GovernorDescent, WhoNeedsLeastUnlocksTheKeelEvenIfItWasPausedLater) {
  StandStill run;
  EXPECT_THAT(run.grows_at_once(2, 10.5, 180, 380), ElementsAre("freeze 2"));
  EXPECT_THAT(run.grows_at_once(3, 11.5, 130, 240), ElementsAre("freeze 3"));
  EXPECT_THAT(run.goes_on(12, 30), ElementsAre("thaw 3"));
}

// However far it would get if it grew on as it did.
TEST(GovernorDescent, WhoIsJustBelowWhatItsKindTakesUnlocksTheKeel) {
  StandStill run(160, 118);
  EXPECT_THAT(run.grows_at_once(3, 10.5, 130, 240), IsEmpty());
  EXPECT_THAT(run.grows_at_once(2, 11.5, 140, 380), ElementsAre("freeze 3", "freeze 2"));
  EXPECT_THAT(run.goes_on(12, 30), ElementsAre("thaw 2"));
}

// However little it seems to need by its course.
TEST(GovernorDescent, WhoIsFarBelowWhatItsKindTakesUnlocksTheKeelLast) {
  StandStill run(160, 118);
  EXPECT_THAT(run.grows_at_once(3, 10.5, 130, 130), IsEmpty());
  EXPECT_THAT(run.grows_at_once(2, 11.5, 150, 380), ElementsAre("freeze 3", "freeze 2"));
  EXPECT_THAT(run.goes_on(12, 30), ElementsAre("thaw 2"));
}

TEST(GovernorDescent, WhoIsPausedByTheUserUnlocksNoKeel) {
  StandStill run;
  EXPECT_THAT(run.grows_at_once(2, 10.5, 180, 380), ElementsAre("freeze 2"));
  EXPECT_THAT(run.grows_at_once(3, 11.5, 130, 240), ElementsAre("freeze 3"));
  run.story.governor.pause(run.story.job(3), at(11.6));
  EXPECT_THAT(run.goes_on(12, 30), ElementsAre("thaw 2"));
}

TEST(GovernorDescent, AKeelThatStoodStillBeforeAnybodyWasPausedDoesNotWaitForHim) {
  StandStill run;
  EXPECT_THAT(run.grows_at_once(2, 14.5, 180, 380), ElementsAre("freeze 2"));
  EXPECT_THAT(run.goes_on(15, 19.5), IsEmpty());
  EXPECT_THAT(run.goes_on(19.5, 21), ElementsAre("thaw 2"));
}

// It sleeps for seven seconds at a time, as it has before anybody was frozen.
TEST(GovernorDescent, AKeelThatSleepsNowAndThenWaitsForNobody) {
  Story story = crowd(small(), 8);
  const auto keel_is_seen = [&](double t, double cpu_ms) {
    story.governor.observe(story.job(1),
                           {.ran = at(t) - at(1),
                            .used = mib(100),
                            .peak = mib(100),
                            .cpu = std::chrono::microseconds(static_cast<int>(cpu_ms * 1000))},
                           at(t));
  };
  for (double t = 10.1; t < 17; t += 0.5) keel_is_seen(t, 1000);
  keel_is_seen(17, 1001);
  story.uses(2, 17.3, 200, 2);
  story.uses(2, 17.5, 260, 2);
  story.samples(17.5);
  ASSERT_THAT(story.rules(17.5), Contains("freeze 2"));
  std::vector<std::string> words;
  for (double t = 18; t < 26; t += 0.5) {
    keel_is_seen(t, 1001);
    story.samples(t);
    for (const std::string& word : story.rules(t)) words.push_back(word);
  }
  EXPECT_THAT(words, Not(Contains("thaw 2")));
  for (double t = 26; t < 30; t += 0.5) {
    keel_is_seen(t, 1001);
    story.samples(t);
    for (const std::string& word : story.rules(t)) words.push_back(word);
  }
  EXPECT_THAT(words, Contains("thaw 2")) << "it does not sleep for ever";
}

// A keel of 100 MiB, and an unknown job that takes so much at once and is frozen for it at 1.5, of
// which so much is pushed out to swap then. When it goes on; 0: not within half a minute.
double goes_on_after_a_burst_of(double mib_taken, double mib_pushed_out = 0) {
  Story story(small());
  story.waits(1, {.mib = 100, .seconds = 1000, .cores = 0.1});
  EXPECT_THAT(story.rules(0), ElementsAre("admit 1"));
  story.uses(1, 0.5, 100);
  story.waits(2, {.mib = 20, .seconds = 1000, .cores = 0.1, .known = 0}, 0.5);
  story.samples(1);
  EXPECT_THAT(story.rules(1), ElementsAre("admit 2"));
  story.uses(2, 1.25, 10, 1);
  story.uses(2, 1.5, mib_taken, 1);
  story.samples(1.5);
  EXPECT_THAT(story.rules(1.5), ElementsAre("freeze 2"));
  story.job(2).member->reclaimed = mib(mib_pushed_out);
  story.used[2] = mib_taken - mib_pushed_out;
  double thawed = 0;
  for (double t = 2; t < 30; t += 0.25) {  // then it is evicted for what it holds
    story.uses(1, t, 100);
    if (!story.is_frozen(2)) story.uses(2, t, mib_taken, 1);
    story.samples(t);
    for (const std::string& word : story.rules(t)) {
      EXPECT_EQ(word, "thaw 2");
      EXPECT_EQ(thawed, 0) << "it has stopped growing";
      thawed = t;
    }
  }
  return thawed;
}

TEST(GovernorDescent, WhoGrewInOneBurstIsTriedWhereThereIsRoomForAsMuchAgain) {
  const double seconds = std::chrono::duration<double>(kTryAfterDwells * kDwell).count();
  EXPECT_NEAR(goes_on_after_a_burst_of(420), 1.5 + seconds, 1);
  EXPECT_NEAR(goes_on_after_a_burst_of(580), 1.5 + 2 * seconds, 1) << "for half as much";
  EXPECT_EQ(goes_on_after_a_burst_of(800), 0);
}

// It comes back when the job goes on.
TEST(GovernorDescent, WhatWasPushedOutOfWhoGrewInOneBurstNeedsRoomToo) {
  const double seconds = std::chrono::duration<double>(kTryAfterDwells * kDwell).count();
  EXPECT_NEAR(goes_on_after_a_burst_of(420, 420), 1.5 + seconds, 1);
  // Once the free 390 MiB are as much as is looked for beyond that.
  EXPECT_NEAR(goes_on_after_a_burst_of(480, 480), 1.5 + seconds * 480 / 390, 0.5);
}

Duration shortest_pause(const Expected& expected, unsigned freezes = 0) {
  Story story = crowd(small(), 1);
  story.governor.expect(story.job(1), flat(expected), at(10));
  Member& member = *story.job(1).member;
  member.freezes = freezes;
  member.sample.ran = at(1) - at(0);
  return dwell_of(member);
}

// It holds its memory meanwhile, and half a second is much of a job of two.
TEST(GovernorDescent, WhoTakesSecondsIsPausedForAPartOfThem) {
  using namespace std::chrono_literals;
  EXPECT_EQ(shortest_pause({.seconds = 0.5}), kDwellLeast);
  EXPECT_EQ(shortest_pause({.seconds = 4}), 250ms);
  EXPECT_EQ(shortest_pause({.seconds = 4}, 3), 1s);
  EXPECT_EQ(shortest_pause({.seconds = 1000}), kDwell);
  EXPECT_EQ(shortest_pause({.seconds = 4, .known = 0}), kDwell);
}

TEST(GovernorDescent, NothingStaysFrozenBeyondTheBound) {
  GovernorConfig config = small();
  config.may_evict = false;
  Story story = crowd(config, 8);
  ASSERT_NO_FATAL_FAILURE(grows_and_is_frozen(story, 2));
  const double bound = std::chrono::duration<double>(kFrozenMax).count();
  double thawed = 0;
  for (double t = 11; t < bound + 60 && thawed == 0; t += 1) {
    story.uses(1, t, 100, 1);
    story.samples(t);
    for (const std::string& word : story.rules(t)) {
      if (word == "thaw 2") thawed = t;
    }
  }
  EXPECT_GT(thawed, 0);
  EXPECT_LE(thawed, bound + 15);
}

}  // namespace
}  // namespace plimsoll::policy

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "governor_crowd.h"
#include "policy/governor/resume_policy.h"

namespace plimsoll::policy {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;

TEST(GovernorLadder, FreezesTheFastestGrowerBeforeTheLine) {
  Story story = crowd(small(), 4);
  third_of_four_grows(story);
  const auto words = story.rules(11.5);
  EXPECT_THAT(words, Contains("freeze 3"));
  EXPECT_THAT(story.reasons.front(), HasSubstr("the line is near"));
}

// A stop would show on its terminal.
TEST(GovernorLadder, WhoCannotBePausedIsEvictedInstead) {
  Story story = unpausable_crowd_past_the_line();
  const auto words = story.rules(11.5);
  for (const std::string& word : words) EXPECT_THAT(word, Not(HasSubstr("freeze")));
  EXPECT_THAT(words, Contains("evict 3"));
}

TEST(GovernorLadder, AGrowerFarFromTheLineIsLeftAlone) {
  Story story = crowd(small(), 4);
  story.uses(2, 11, 250, 2);
  EXPECT_THAT(story.rules(11), IsEmpty());
}

TEST(GovernorLadder, NobodyLosesAnythingByWhatAClientSays) {
  Story story = crowd(small(), 3);
  story.waits(4, {.mib = 300, .seconds = 1000, .cores = 0.1, .known = 0}, 10);
  ASSERT_THAT(story.rules(10), ElementsAre("admit 4"));
  for (double t = 10.01; t < 14; t += 0.1) {
    story.is_told_to_use(4, t, t < 11 ? 1 : 100'000, 10);
    for (unsigned id = 1; id <= 3; ++id) story.uses(id, t, 100, id);
    story.samples(t);
    EXPECT_THAT(story.rules(t), IsEmpty()) << t;
  }
}

TEST(GovernorLadder, AClaimHoldsUpWhoHasNotBegun) {
  Story story = crowd(small(), 3);
  story.waits(4, {.mib = 300, .seconds = 1000, .cores = 0.1}, 10);
  ASSERT_THAT(story.rules(10), ElementsAre("admit 4"));
  story.is_told_to_use(4, 11, 900, 10);
  story.samples(11);
  story.waits(5, {.mib = 100, .seconds = 10, .cores = 0.1}, 11);
  EXPECT_THAT(story.rules(11), IsEmpty());
  ASSERT_TRUE(story.governor.holding());
  EXPECT_EQ(story.governor.holding()->cause, HoldCause::memory);
  story.is_told_to_use(4, 12, 300, 10);
  story.samples(12);
  EXPECT_THAT(story.rules(12), ElementsAre("admit 5"));
}

TEST(GovernorLadder, TheKeelIsNeitherFrozenNorEvicted) {
  Story story = crowd(small(), 3);
  for (double t = 11; t < 14; t += 0.1) {
    const double used = 100 + (t - 11) * 500;
    if (story.governor.running() > 0) story.uses(1, t, used, 1);
    story.samples(t);
    for (const std::string& word : story.rules(t)) {
      EXPECT_NE(word, "freeze 1");
      EXPECT_NE(word, "evict 1");
      if (word == "fail 1") {
        EXPECT_EQ(story.governor.running(), 1u);
        return;
      }
      if (word.starts_with("evict ")) {
        story.ends(number_in(word), t, Outcome::evicted);
      }
    }
  }
  FAIL() << "nothing stopped a job that outgrew the line alone";
}

TEST(GovernorLadder, EvictsTheSmallestSetThatSufficesAndWaitsForIt) {
  Story story = crowd(small(), 8);
  // The keel takes what is left and more.
  story.uses(1, 10.5, 330, 1);
  story.samples(10.5);
  const auto words = story.rules(10.5);
  EXPECT_THAT(words, Not(Contains("evict 1")));
  const auto evicted = std::count_if(words.begin(), words.end(), [](const std::string& word) {
    return word.starts_with("evict");
  });
  ASSERT_GE(evicted, 1);
  EXPECT_LE(evicted, 5);
  // Nobody else while that memory is on its way.
  story.samples(10.6);
  for (const std::string& word : story.rules(10.6)) EXPECT_THAT(word, Not(HasSubstr("evict")));
}

// A task that sleeps in the kernel's throttle freezes late and gives nothing back before.
TEST(GovernorLadder, PastTheLineNobodyWaitsForAFreezeOrForSwap) {
  GovernorConfig config = small();
  config.has_swap = true;
  Story story = crowd(config, 8);
  story.uses(2, 10.3, 200, 2);
  story.uses(2, 10.5, 330, 2);
  story.samples(10.5);
  const auto words = story.rules(10.5);
  EXPECT_THAT(words, Contains("freeze 2"));
  EXPECT_THAT(words, Contains(HasSubstr("evict ")));
}

// Evicts from a crowd of eight of which the first has grown by 230 MiB, at 10.5.
std::vector<unsigned> first_round(Story& story) {
  story.uses(1, 10.5, 330, 1);
  story.samples(10.5);
  std::vector<unsigned> evicted;
  for (const std::string& word : story.rules(10.5)) {
    if (word.starts_with("evict ")) evicted.push_back(number_in(word));
  }
  return evicted;
}

bool evicts(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& word) { return word.starts_with("evict "); });
}

TEST(GovernorLadder, TheNextRoundWaitsUntilThePoolWasLookedAt) {
  Story story = crowd(small(), 8);
  const auto evicted = first_round(story);
  ASSERT_FALSE(evicted.empty());
  // The groups are empty; how much came back nobody knows yet, and the keel grows on.
  for (const unsigned id : evicted) {
    story.used.erase(id);
    story.governor.leave(story.job(id), {.outcome = Outcome::evicted}, at(10.55));
  }
  story.uses(1, 10.6, 600, 1);
  EXPECT_FALSE(evicts(story.rules(10.6)));
  story.samples(10.61);
  EXPECT_FALSE(evicts(story.rules(10.61))) << "it may be too soon for what comes back";
  story.samples(10.65);
  EXPECT_TRUE(evicts(story.rules(10.65)));
}

TEST(GovernorLadder, NorDoesItWaitForALookThatNeverComes) {
  Story story = crowd(small(), 8);
  const auto evicted = first_round(story);
  for (const unsigned id : evicted) {
    story.used.erase(id);
    story.governor.leave(story.job(id), {.outcome = Outcome::evicted}, at(10.55));
  }
  story.uses(1, 10.6, 600, 1);
  story.uses(1, 11.6, 900, 1);
  EXPECT_TRUE(evicts(story.rules(11.6)));
}

TEST(GovernorLadder, WhoDoesNotDieIsNotWaitedForAndStaysInTheBooks) {
  Story story = crowd(small(), 8);
  const auto evicted = first_round(story);
  ASSERT_FALSE(evicted.empty());
  // A second later they hang in the kernel with all they have: others have to go.
  story.samples(11.4);
  EXPECT_FALSE(evicts(story.rules(11.4)));
  story.samples(11.6);
  const auto words = story.rules(11.6);
  EXPECT_TRUE(evicts(words));
  for (const unsigned id : evicted) {
    EXPECT_THAT(words, Not(Contains("evict " + std::to_string(id))));
  }
}

TEST(GovernorLadder, AStuckJobHoldsBackItsMemoryAndNothingElse) {
  Story story = crowd(small(), 8);
  const auto evicted = first_round(story);
  ASSERT_FALSE(evicted.empty());
  // All others end; what hangs still has its 100 MiB each.
  for (unsigned id = 1; id <= 8; ++id) {
    if (std::find(evicted.begin(), evicted.end(), id) == evicted.end()) story.ends(id, 12);
  }
  const double stuck = 100.0 * static_cast<double>(evicted.size());
  story.waits(20, {.mib = 990 - stuck - 100, .seconds = 10}, 20);
  story.waits(21, {.mib = 90 + 20, .seconds = 5}, 20);
  story.samples(20);
  EXPECT_THAT(story.rules(20), ElementsAre("admit 20"));
}

TEST(GovernorLadder, WithSwapTheFrozenGiveTheirMemoryBackFirst) {
  GovernorConfig config = small();
  config.has_swap = true;
  Story story = crowd(config, 8);
  ASSERT_NO_FATAL_FAILURE(grows_and_is_frozen(story, 2));
  story.uses(1, 10.9, 100, 1);
  story.uses(1, 11, 145, 1);
  story.samples(11);
  const auto words = story.rules(11);
  EXPECT_THAT(words, Contains("reclaim 2"));
  for (const std::string& word : words) EXPECT_THAT(word, Not(HasSubstr("evict")));
}

TEST(GovernorLadder, WithoutEvictionsOthersArePausedAndWhatDoesNotFitFails) {
  GovernorConfig config = small();
  config.may_evict = false;
  Story story = crowd(config, 6);
  bool failed = false;
  for (double t = 10.1; t < 14 && !failed; t += 0.1) {
    story.uses(1, t, 100 + (t - 10) * 400, 1);
    story.samples(t);
    for (const std::string& word : story.rules(t)) {
      EXPECT_THAT(word, Not(HasSubstr("evict")));
      failed |= word == "fail 1";
    }
  }
  EXPECT_TRUE(failed);
}

// A job alone below a line of 1,000 MiB that gains `speed` MiB a second from 900 MiB on, from the
// tenth second on: how far it is past the line when it fails.
double failed_past_by(double speed) {
  Story story = crowd(small(), 1);
  for (double t = 10; t < 12; t += 0.01) {
    const double used = 900 + (t - 10) * speed;
    story.uses(1, t, used, 1);
    story.samples(t);
    const auto words = story.rules(t);
    if (std::find(words.begin(), words.end(), "fail 1") != words.end()) return used - 1000;
  }
  return std::nan("");
}

TEST(GovernorLadder, WhoIsAloneAndALittlePastTheLineMayComeDownAgain) {
  Story story = crowd(small(), 1);
  for (double t = 10; t < 14; t += 0.01) {
    const bool is_past = t > 11 && t < 11.4;
    story.uses(1, t, is_past ? 1100 : 900, 1);
    story.samples(t);
    EXPECT_THAT(story.rules(t), Not(Contains("fail 1"))) << t;
  }
  // Half a second, of which the line allows 10 MiB.
  EXPECT_NEAR(failed_past_by(150), 10 + 75, 5);
}

TEST(GovernorLadder, WhoRushesPastTheLineFailsBeforeTheLastResortOfV1) {
  EXPECT_NEAR(failed_past_by(400), 125, 5);
  EXPECT_NEAR(failed_past_by(2000), 125, 25);
}

// The pool is looked at just before the job itself: for a moment its growth is there twice.
TEST(GovernorLadder, WhatPoolAndJobHaveBothShownIsNotPastTheLine) {
  Story story = crowd(small(), 1);
  MachineSample pool;
  pool.pool_used = mib(700);
  story.governor.tick(pool, at(10.1));
  EXPECT_THAT(story.rules(10.1), Not(Contains("fail 1")));
  story.uses(1, 10.11, 700, 1);
  EXPECT_THAT(story.rules(10.11), Not(Contains("fail 1")));
  story.samples(10.2);
  EXPECT_THAT(story.rules(10.2), Not(Contains("fail 1")));
}

// Files that ended jobs left in a tmpfs.
TEST(GovernorLadder, WhoFailsForWhatOthersLeftIsToldSo) {
  Story story = crowd(small(), 1);
  story.uses(1, 10, 300, 1);
  MachineSample pool;
  pool.pool_used = mib(1200);
  story.governor.tick(pool, at(10.1));
  EXPECT_THAT(story.rules(10.1), Contains("fail 1"));
  EXPECT_THAT(story.reasons,
              Contains(HasSubstr("900 MiB of the memory in use belongs to no running job")));
}

// Of two that can't be run again, of which the second is paused: why one of them fails.
std::vector<std::string> reasons_of_a_failure(double keel_mib, double other_mib) {
  GovernorConfig config = small();
  config.may_lose = false;
  Story story = crowd(config, 2);
  for (const unsigned id : {1U, 2U}) story.job(id).restartable = false;
  story.uses(1, 10, 250, 1);
  story.uses(2, 10, other_mib, 2);
  story.governor.pause(story.job(2), at(10));
  EXPECT_THAT(story.rules(10), Contains("freeze 2"));
  story.uses(1, 10.1, keel_mib, 1);
  const auto fails = [&story](double t) {
    story.samples(t);
    const auto words = story.rules(t);
    return std::any_of(words.begin(), words.end(),
                       [](const std::string& word) { return word.starts_with("fail"); });
  };
  double t = 10.1;
  while (t < 20 && !fails(t)) t += 0.1;
  return story.reasons;
}

TEST(GovernorLadder, WhoFailsBesideOthersIsToldHow) {
  EXPECT_THAT(reasons_of_a_failure(400, 700),
              Contains(HasSubstr("it uses 700 MiB and cannot go on beside the oldest job, which "
                                 "uses 400 MiB: with every other job paused, use is still")));
  EXPECT_THAT(reasons_of_a_failure(700, 400),
              Contains(MatchesRegex("it uses 700 MiB, [0-9]+ MiB more than expected: with every "
                                    "other job paused, use is still .*")));
}

TEST(GovernorLadder, WhoFailsAloneDoesNotFit) {
  Story story = crowd(small(), 1);
  story.uses(1, 10, 1200, 1);
  EXPECT_THAT(story.rules(10), Contains("fail 1"));
  EXPECT_THAT(story.reasons, Contains(HasSubstr("it uses 1.17 GiB and does not fit: use is 200 MiB "
                                                "above the line")));
}

TEST(GovernorUser, PausesAndGoesOnAsAskedBeItTheKeel) {
  Story story = crowd(small(), 3);
  story.governor.pause(story.job(1), at(11));
  EXPECT_THAT(story.rules(11), ElementsAre("freeze 1"));
  EXPECT_EQ(story.governor.keel(), JobId{2});
  EXPECT_THAT(story.rules(5000), IsEmpty());
  story.governor.resume(story.job(1), at(5001));
  EXPECT_THAT(story.rules(5001), ElementsAre("thaw 1"));
  EXPECT_EQ(story.governor.keel(), JobId{1});
}

TEST(GovernorUser, ALowerLineIsReachedFromAbove) {
  Story story = crowd(small(), 8);
  story.governor.set_share({.line = mib(500), .cores = story.governor.cores()});
  std::vector<std::string> words;
  for (double t = 10; t < 12; t += 0.1) {
    story.samples(t);
    for (const std::string& word : story.rules(t)) {
      words.push_back(word);
      if (word.starts_with("evict ")) {
        story.ends(number_in(word), t + 0.05, Outcome::evicted);
      }
    }
  }
  EXPECT_LE(story.governor.used(), mib(500));
  EXPECT_THAT(words, Not(Contains("evict 1")));
}

// Memory in tmpfs or page cache may be charged to somebody whom the pool can't see: what is left of
// the machine shows it.
TEST(GovernorLadder, MemoryThatEscapesIsCaughtByTheMachine) {
  Story story({.line = mib(1000), .cores = 8, .jobs_max = 1000, .reserve = mib(100)});
  for (unsigned id = 1; id <= 2; ++id) story.waits(id, {.mib = 200}, 0);
  EXPECT_EQ(story.rules(0).size(), 2u);
  story.uses(1, 1, 200);
  story.uses(2, 1, 200);
  story.samples(1, {.available = mib(900), .stall = {}});
  EXPECT_THAT(story.rules(1), IsEmpty());
  // Somebody takes 700 MiB; the pool is as it was.
  story.samples(2, {.available = mib(200), .stall = {}});
  EXPECT_THAT(story.rules(2), ElementsAre("freeze 2")) << "it grew, and 100 MiB are left";
  story.samples(3, {.available = mib(40), .stall = {}});
  EXPECT_THAT(story.rules(3), Contains("evict 2"));
}

}  // namespace
}  // namespace plimsoll::policy

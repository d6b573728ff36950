#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "governor_story.h"
#include "policy/descent.h"

namespace plimsoll::policy {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

GovernorConfig small() { return {.line = mib(1000), .cores = 8, .jobs_max = 1000}; }

// So many jobs run that use 100 MiB each, started one second apart, the last look at second 10.
Story crowd(const GovernorConfig& config, unsigned jobs, double spread = 0) {
  Story story(config);
  for (unsigned id = 1; id <= jobs; ++id) {
    story.waits(id, {.mib = 100, .seconds = 1000, .cores = 0.1, .spread = spread});
    EXPECT_THAT(story.rules(id), ElementsAre("admit " + std::to_string(id)));
  }
  for (double t = 8.25; t <= 10; t += 0.25) {
    for (unsigned id = 1; id <= jobs; ++id) story.uses(id, t, 100, id);
  }
  story.looks(10);
  EXPECT_THAT(story.rules(10), IsEmpty());
  return story;
}

TEST(GovernorLadder, FreezesTheFastestGrowerBeforeTheLine) {
  Story story = crowd(small(), 4);
  story.uses(2, 11, 250, 2);
  story.uses(3, 11, 350, 3);
  story.uses(3, 11.5, 600, 3);
  // 600 + 250 + 2 x 100 = 1050 is past the line; before, at 11: 800, and 350 more a second.
  const auto words = story.rules(11.5);
  EXPECT_THAT(words, Contains("freeze 3"));
  EXPECT_THAT(story.reasons.front(), HasSubstr("the line is near"));
}

TEST(GovernorLadder, AGrowerFarFromTheLineIsLeftAlone) {
  Story story = crowd(small(), 4);
  story.uses(2, 11, 250, 2);
  EXPECT_THAT(story.rules(11), IsEmpty());
}

TEST(GovernorLadder, TheKeelIsNeitherFrozenNorEvicted) {
  Story story = crowd(small(), 3);
  for (double t = 11; t < 14; t += 0.1) {
    const double used = 100 + (t - 11) * 500;
    if (story.governor.running() > 0) story.uses(1, t, used, 1);
    story.looks(t);
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
  story.looks(10.5);
  const auto words = story.rules(10.5);
  EXPECT_THAT(words, Not(Contains("evict 1")));
  const auto evicted = std::count_if(words.begin(), words.end(), [](const std::string& word) {
    return word.starts_with("evict");
  });
  ASSERT_GE(evicted, 1);
  EXPECT_LE(evicted, 5);
  // Nobody else while that memory is on its way.
  story.looks(10.6);
  for (const std::string& word : story.rules(10.6)) EXPECT_THAT(word, Not(HasSubstr("evict")));
}

TEST(GovernorLadder, WithSwapTheFrozenGiveTheirMemoryBackFirst) {
  GovernorConfig config = small();
  config.has_swap = true;
  Story story = crowd(config, 8);
  story.uses(2, 10.3, 200, 2);
  story.uses(2, 10.5, 260, 2);
  story.looks(10.5);
  ASSERT_THAT(story.rules(10.5), Contains("freeze 2"));
  story.uses(1, 10.9, 100, 1);
  story.uses(1, 11, 145, 1);
  story.looks(11);
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
    story.looks(t);
    for (const std::string& word : story.rules(t)) {
      EXPECT_THAT(word, Not(HasSubstr("evict")));
      failed |= word == "fail 1";
    }
  }
  EXPECT_TRUE(failed);
}

TEST(GovernorDescent, ThawsWhenThereIsRoomAgainAndAdmitsOnlyThen) {
  Story story = crowd(small(), 8);
  story.uses(8, 10.3, 200, 8);
  story.uses(8, 10.5, 260, 8);
  story.looks(10.5);
  ASSERT_THAT(story.rules(10.5), ElementsAre("freeze 8"));
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
  story.uses(2, 10.3, 200, 2);
  story.uses(2, 10.5, 260, 2);
  ASSERT_THAT(story.rules(10.5), ElementsAre("freeze 2"));
  story.ends(1, 10.6);
  EXPECT_THAT(story.rules(10.6), ElementsAre("thaw 2"));
}

TEST(GovernorDescent, AKeelThatStandsStillMayWaitForAFrozenJob) {
  Story story = crowd(small(), 8);
  story.uses(2, 10.3, 200, 2);
  story.uses(2, 10.5, 260, 2);
  story.looks(10.5);
  ASSERT_THAT(story.rules(10.5), ElementsAre("freeze 2"));
  std::vector<std::string> thawed;
  for (double t = 11; t < 17; t += 0.5) {
    // The keel is looked at and has done nothing; the others' memory leaves no room for a thaw.
    story.governor.observe(JobId{1},
                           {.ran = at(t) - at(1),
                            .used = mib(100),
                            .peak = mib(100),
                            .cpu = std::chrono::milliseconds(100)},
                           at(t));
    story.looks(t);
    for (const std::string& word : story.rules(t)) thawed.push_back(word);
  }
  EXPECT_THAT(thawed, Contains("thaw 2"));
}

TEST(GovernorDescent, NothingStaysFrozenBeyondTheBound) {
  GovernorConfig config = small();
  config.may_evict = false;
  Story story = crowd(config, 8);
  story.uses(2, 10.3, 200, 2);
  story.uses(2, 10.5, 260, 2);
  story.looks(10.5);
  ASSERT_THAT(story.rules(10.5), ElementsAre("freeze 2"));
  const double bound = std::chrono::duration<double>(kFrozenMax).count();
  double thawed = 0;
  for (double t = 11; t < bound + 60 && thawed == 0; t += 1) {
    story.uses(1, t, 100, 1);
    story.looks(t);
    for (const std::string& word : story.rules(t)) {
      if (word == "thaw 2") thawed = t;
    }
  }
  EXPECT_GT(thawed, 0);
  EXPECT_LE(thawed, bound + 15);
}

TEST(GovernorUser, PausesAndGoesOnAsAskedBeItTheKeel) {
  Story story = crowd(small(), 3);
  story.governor.pause(JobId{1}, at(11));
  EXPECT_THAT(story.rules(11), ElementsAre("freeze 1"));
  EXPECT_EQ(story.governor.keel(), JobId{2});
  EXPECT_THAT(story.rules(5000), IsEmpty());
  story.governor.resume(JobId{1}, at(5001));
  EXPECT_THAT(story.rules(5001), ElementsAre("thaw 1"));
  EXPECT_EQ(story.governor.keel(), JobId{1});
}

TEST(GovernorUser, ALowerLineIsReachedFromAbove) {
  Story story = crowd(small(), 8);
  story.governor.set_line(mib(500));
  std::vector<std::string> words;
  for (double t = 10; t < 12; t += 0.1) {
    story.looks(t);
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

}  // namespace
}  // namespace plimsoll::policy

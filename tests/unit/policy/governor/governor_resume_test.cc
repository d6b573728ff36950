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

TEST(GovernorDescent, AKeelThatStandsStillMayWaitForAFrozenJob) {
  Story story = crowd(small(), 8);
  ASSERT_NO_FATAL_FAILURE(grows_and_is_frozen(story, 2));
  std::vector<std::string> thawed;
  for (double t = 11; t < 17; t += 0.5) {
    // The keel is looked at and has done nothing; the others' memory leaves no room for a thaw.
    story.governor.observe(story.job(1),
                           {.ran = at(t) - at(1),
                            .used = mib(100),
                            .peak = mib(100),
                            .cpu = std::chrono::milliseconds(100)},
                           at(t));
    story.samples(t);
    for (const std::string& word : story.rules(t)) thawed.push_back(word);
  }
  EXPECT_THAT(thawed, Contains("thaw 2"));
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

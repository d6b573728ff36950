// Past the line, paused jobs that are near their end go on before one is ended for good.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "governor_crowd.h"

namespace plimsoll::policy {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Four jobs that can't be run again and are believed to need 230 MiB each below a line of 1,000.
// All have nearly that when they are paused, and the oldest, which never is, goes on to grow.
Story three_near_their_end(double seconds) {
  GovernorConfig config = small();
  config.may_lose = false;
  Story story(config);
  for (unsigned id = 1; id <= 4; ++id) {
    story.waits(id, {.mib = 230, .seconds = seconds, .cores = 0.1}, 0, 0, 0, false);
  }
  static_cast<void>(story.rules(0));
  for (double t = 10; t < 10.35; t += 0.1) {
    for (unsigned id = 2; id <= 4; ++id) story.uses(id, t, 200 + (t - 10) * 95 + id, 1);
    story.uses(1, t, 230, 1);
    story.samples(t);
    static_cast<void>(story.rules(t));
  }
  return story;
}

// The oldest grows to so much from 300 MiB at second 11 on, until somebody goes on or is ended.
std::vector<std::string> rulings_until_one_is_ended(Story& story, double most) {
  std::vector<std::string> words;
  for (double t = 11; t < 14; t += 0.05) {
    story.uses(1, t, std::min(most, 300 + (t - 11) * 40), 1);
    story.samples(t);
    for (const std::string& word : story.rules(t)) {
      words.push_back(word);
      if (!word.starts_with("freeze") && word != "reclaim" && !word.starts_with("thaw"))
        return words;
    }
  }
  return words;
}

TEST(GovernorNearEnd, APausedOneNearItsEndGoesOnBeforeOneIsEndedForGood) {
  Story story = three_near_their_end(1);
  double t = 11;
  std::vector<std::string> words;
  for (; t < 14 && words.empty(); t += 0.05) {
    story.uses(1, t, std::min(325.0, 300 + (t - 11) * 40), 1);
    story.samples(t);
    for (const std::string& word : story.rules(t)) {
      ASSERT_THAT(word, Not(HasSubstr("fail")));
      ASSERT_THAT(word, Not(HasSubstr("evict")));
      if (word.starts_with("thaw ")) words.push_back(word);
    }
  }
  ASSERT_THAT(words, ElementsAre("thaw 2"));
  EXPECT_THAT(story.reasons, Contains(HasSubstr("its end is believed to be near")));
  story.uses(2, t, 232, 1);
  story.samples(t);
  EXPECT_THAT(story.rules(t), Not(Contains("freeze 2"))) << "it has half a second";
  story.ends(2, t + 0.1);
  EXPECT_THAT(story.rules(t + 0.1), Not(Contains(HasSubstr("fail"))));
}

TEST(GovernorNearEnd, OneThatGrowsOnAllTheSameIsPausedAgain) {
  Story story = three_near_their_end(1);
  std::vector<std::string> words;
  for (double t = 11, let_go = 0; t < 14; t += 0.05) {
    story.uses(1, t, std::min(325.0, 300 + (t - 11) * 40), 1);
    if (let_go > 0) story.uses(2, t, 230 + (t - let_go) * 200, 1);
    story.samples(t);
    for (const std::string& word : story.rules(t)) {
      words.push_back(word);
      if (word == "thaw 2") let_go = t;
    }
    if (let_go > 0 && t > let_go + 0.2) break;
  }
  EXPECT_THAT(words, ::testing::IsSupersetOf({"thaw 2", "freeze 2"}));
  EXPECT_EQ(words.back(), "freeze 2") << "it did not need half a second to be found out";
}

TEST(GovernorNearEnd, WhereNoneComesToItsEndOneIsEndedAllTheSame) {
  Story story = three_near_their_end(1);
  const auto words = rulings_until_one_is_ended(story, 325);
  EXPECT_THAT(words, ::testing::IsSupersetOf({"thaw 2", "thaw 3"})) << "half a second each";
  EXPECT_THAT(words, Not(Contains("thaw 4"))) << "the line is to hold";
  EXPECT_THAT(words.back(), HasSubstr("fail"));
}

TEST(GovernorNearEnd, NobodyIsLetGoWhoHasLongToRunOrWhereTheLineIsFarBehind) {
  Story long_ones = three_near_their_end(1000);
  EXPECT_THAT(rulings_until_one_is_ended(long_ones, 325), Not(Contains(HasSubstr("thaw"))));
  Story far = three_near_their_end(1);
  std::vector<std::string> words;
  for (const double t : {11.0, 11.1}) {
    far.uses(1, t, t < 11.05 ? 300 : 340, 1);
    far.samples(t);
    for (const std::string& word : far.rules(t)) words.push_back(word);
  }
  EXPECT_THAT(words, Not(Contains(HasSubstr("thaw"))));
}

}  // namespace
}  // namespace plimsoll::policy

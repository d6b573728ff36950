#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "governor_story.h"

// Who of those that wait starts first.
namespace plimsoll::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

GovernorConfig eight_cores() { return {.line = mib(1000), .cores = 8, .jobs_max = 1000}; }

TEST(GovernorOrder, LongestFirstAndPriorityBeforeThat) {
  Story story(eight_cores());
  story.waits(1, {.mib = 600, .seconds = 10});
  story.waits(2, {.mib = 600, .seconds = 500});
  story.waits(3, {.mib = 600, .seconds = 20}, 0, 1);
  EXPECT_THAT(story.rules(0), ElementsAre("admit 3"));
  story.uses(3, 1, 600);
  story.ends(3, 2);
  EXPECT_THAT(story.rules(2), ElementsAre("admit 2"));
}

// 1 to 6 are of one kind, 7 to 9 of another that takes a little longer: by powers of two both are
// equally long, and two of the one start for each of the other.
TEST(GovernorOrder, KindsThatAreAboutEquallyLongTakeTurns) {
  Story story(eight_cores());
  story.governor.expect(Kind{1}, flat({.mib = 600, .seconds = 70}));
  story.governor.expect(Kind{2}, flat({.mib = 500, .seconds = 100}));
  for (unsigned id = 1; id <= 9; ++id) {
    story.enters({.job = JobId{id}, .kind = Kind{id <= 6 ? 1U : 2U}, .tenant = kHost});
  }
  std::vector<unsigned> started;
  for (double t = 0; t < 9; ++t) {
    const auto words = story.rules(t);
    ASSERT_EQ(words.size(), 1u);
    started.push_back(number_in(words.front()));
    story.uses(started.back(), t + 0.5, 500, t);
    story.ends(started.back(), t + 0.9);
  }
  EXPECT_THAT(started, ElementsAre(1, 7, 2, 3, 8, 4, 5, 9, 6));
}

GovernorConfig in_order_of_input() {
  GovernorConfig config = eight_cores();
  config.order = StartOrder::input;
  return config;
}

TEST(GovernorOrder, InOrderOfInputNobodyGoesAhead) {
  Story story(in_order_of_input());
  story.waits(1, {.mib = 600, .seconds = 10});
  story.waits(2, {.mib = 600, .seconds = 500});
  story.waits(3, {.mib = 100, .seconds = 900});
  EXPECT_THAT(story.rules(0), ElementsAre("admit 1"));
  story.uses(1, 1, 600);
  story.samples(1);
  EXPECT_THAT(story.rules(1), IsEmpty()) << "3 would fit";
  story.ends(1, 5);
  EXPECT_THAT(story.rules(5), ElementsAre("admit 2", "admit 3"));
}

TEST(GovernorOrder, PriorityGoesBeforeTheOrderOfInput) {
  Story story(in_order_of_input());
  story.waits(1, {.mib = 100, .known = 0});
  story.waits(2, {.mib = 100}, 0, 1);
  story.waits(3, {.mib = 100, .seconds = 900});
  EXPECT_THAT(story.rules(0, 2), ElementsAre("admit 2", "admit 1"));
}

// What it is like may decide how long all of it takes. The others of its kind are as long as is
// guessed of them meanwhile.
TEST(GovernorOrder, OneOfAKindThatNobodyKnowsGoesFirst) {
  Story story(eight_cores());
  for (unsigned id = 1; id <= 2; ++id) story.waits(id, {.mib = 100, .seconds = 900});
  story.governor.expect(Kind{9}, flat({.mib = 100, .seconds = 20, .known = 0}));
  for (unsigned id = 3; id <= 4; ++id) story.enters({.job = JobId{id}, .kind = Kind{9}});
  EXPECT_THAT(story.rules(0), ElementsAre("admit 3", "admit 1", "admit 2", "admit 4"));
}

// Later only others like it could use these cores, and the long one needs none of them.
TEST(GovernorOrder, WhoFillsIdleCoresStartsBeforeLongerOnes) {
  Story story(eight_cores());
  story.waits(1, {.mib = 600, .seconds = 900, .cores = 0.5});
  story.waits(2, {.mib = 300, .seconds = 90, .cores = 5});
  story.waits(3, {.mib = 300, .seconds = 80, .cores = 3});
  story.waits(4, {.mib = 300, .seconds = 85, .cores = 4});
  EXPECT_THAT(story.rules(0), ElementsAre("admit 2", "admit 3"));
}

TEST(GovernorOrder, WhoIsWiderThanTheIdleCoresOvertakesNobody) {
  Story story(eight_cores());
  story.waits(1, {.mib = 100, .seconds = 900, .cores = 5});
  story.waits(2, {.mib = 100, .seconds = 500, .cores = 0.5});
  story.waits(3, {.mib = 100, .seconds = 90, .cores = 4});
  EXPECT_THAT(story.rules(0), ElementsAre("admit 1", "admit 2", "admit 3"));
}

TEST(GovernorOrder, WhoFillsIdleCoresOvertakesNoHigherPriority) {
  Story story(eight_cores());
  story.waits(1, {.mib = 600, .seconds = 900, .cores = 0.5}, 0, 1);
  story.waits(2, {.mib = 300, .seconds = 90, .cores = 5});
  EXPECT_THAT(story.rules(0), ElementsAre("admit 1", "admit 2"));
}

TEST(GovernorOrder, WhoFillsIdleCoresOvertakesNobodyWhoWasEvicted) {
  Story story(eight_cores());
  story.waits(1, {.mib = 800, .seconds = 900, .cores = 0.5}, 0, 0, 1);
  story.waits(2, {.mib = 300, .seconds = 90, .cores = 5});
  EXPECT_THAT(story.rules(0), ElementsAre("admit 1"));
}

// The place that is kept for the first stays free: nobody waits for ever.
TEST(GovernorOrder, WhoFillsIdleCoresLeavesTheMemoryThatIsKept) {
  Story story(eight_cores());
  story.waits(1, {.mib = 500, .seconds = 30, .cores = 4});
  story.waits(2, {.mib = 900, .seconds = 900, .cores = 0.5});
  EXPECT_THAT(story.rules(0), ElementsAre("admit 1"));
  for (double t = 1; t < 29; t += 7) {
    story.uses(1, t, 500);
    story.samples(t);
    story.waits(static_cast<unsigned>(10 + t), {.mib = 300, .seconds = 90, .cores = 4}, t);
    EXPECT_THAT(story.rules(t), IsEmpty()) << t;
  }
  story.ends(1, 30);
  EXPECT_THAT(story.rules(30), ElementsAre("admit 2"));
}

// Else it would wait for as long as wide ones come, and be the last of all to end.
TEST(GovernorOrder, WhoFillsIdleCoresLeavesAPlaceToTheFirst) {
  Story story({.line = mib(1000), .cores = 8, .jobs_max = 3});
  story.waits(1, {.mib = 10, .seconds = 900, .cores = 0.1});
  for (unsigned id = 2; id <= 9; ++id) story.waits(id, {.mib = 10, .seconds = 90, .cores = 2});
  EXPECT_THAT(story.rules(0), ElementsAre("admit 2", "admit 3", "admit 1"));
}

TEST(GovernorOrder, WhoFillsIdleCoresLeavesAPlaceToTheFirstOfItsUser) {
  Story story({.line = mib(1000), .cores = 8, .jobs_max = 3});  // two of them for a user
  story.waits_for(1001, 1, {.mib = 10, .seconds = 900, .cores = 0.1});
  for (unsigned id = 2; id <= 9; ++id) {
    story.waits_for(1001, id, {.mib = 10, .seconds = 90, .cores = 2});
  }
  EXPECT_THAT(story.rules(0), ElementsAre("admit 2", "admit 1"));
}

TEST(GovernorOrder, WhoComesMuchLaterOvertakesNobody) {
  for (const double later : {500.0, 700.0}) {
    Story story(eight_cores());
    story.waits(1, {.mib = 600, .seconds = 9000, .cores = 0.5});
    story.waits(2, {.mib = 600, .seconds = 90, .cores = 5}, later);
    EXPECT_THAT(story.rules(later), ElementsAre(later > 600 ? "admit 1" : "admit 2")) << later;
  }
}

TEST(GovernorOrder, WhoFillsIdleCoresOvertakesNobodyWhoWasEvictedBehindTheFirst) {
  Story story(eight_cores());
  story.waits(1, {.mib = 300, .seconds = 900, .cores = 0.5});
  story.waits(2, {.mib = 500, .seconds = 90, .cores = 0.5}, 0, 0, 1);
  story.waits(3, {.mib = 300, .seconds = 90, .cores = 5});
  EXPECT_THAT(story.rules(0), ElementsAre("admit 1", "admit 2"));
}

// Memory is kept for the first in the order, not for a wide one that did not fit before it.
TEST(GovernorOrder, WhoWouldFillIdleCoresIsNotTheOneThatIsWaitedFor) {
  Story story(eight_cores());
  story.waits(1, {.mib = 800, .seconds = 100, .cores = 1});
  EXPECT_THAT(story.rules(0), ElementsAre("admit 1"));
  story.waits(2, {.mib = 700, .seconds = 900, .cores = 0.5}, 1);
  story.waits(3, {.mib = 400, .seconds = 90, .cores = 5}, 1);
  EXPECT_THAT(story.rules(1), IsEmpty());
  ASSERT_TRUE(story.governor.holding());
  EXPECT_EQ(story.governor.holding()->job, JobId{2});
  story.ends(1, 50);
  EXPECT_THAT(story.rules(50), ElementsAre("admit 2"));
}

}  // namespace
}  // namespace plimsoll::policy

#include "policy/governor/governor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "governor_story.h"

namespace plimsoll::policy {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// A line of 1000 MiB, of which 30 stay free at any admission.
GovernorConfig two_cores() { return {.line = mib(1000), .cores = 2, .jobs_max = 1000}; }
GovernorConfig small() { return {.line = mib(1000), .cores = 8, .jobs_max = 1000}; }

TEST(GovernorAdmission, FillsTheLineAndNoMore) {
  Story story(small());
  for (unsigned id = 1; id <= 4; ++id) story.waits(id, {.mib = 300, .spread = 3});
  EXPECT_THAT(story.rules(0), UnorderedElementsAre("admit 1", "admit 2", "admit 3"));
  ASSERT_TRUE(story.governor.holding());
  EXPECT_EQ(story.governor.holding()->job, JobId{4});
  EXPECT_EQ(story.governor.holding()->cause, HoldCause::memory);
  EXPECT_THAT(story.governor.holding()->reason, HasSubstr("waits for memory"));
  for (unsigned id = 1; id <= 3; ++id) story.uses(id, 1, 300);
  story.samples(1);
  EXPECT_THAT(story.rules(1), IsEmpty());
  story.ends(2, 5);
  EXPECT_THAT(story.rules(5), ElementsAre("admit 4"));
}

TEST(GovernorAdmission, DoubtsArePooledNotAddedUp) {
  Story story(small());
  for (unsigned id = 1; id <= 16; ++id) story.waits(id, {.mib = 50, .cores = 0.1, .spread = 30});
  // 13 x 50 + sqrt(13) x 30 = 758; added up they would be 1040.
  EXPECT_GT(story.rules(0).size(), 13u);
}

TEST(GovernorAdmission, SmallJobsFillTheGapsBesideAGiantThatWaits) {
  Story story(small());
  story.waits(1, {.mib = 500, .seconds = 400});
  EXPECT_THAT(story.rules(0), ElementsAre("admit 1"));
  story.uses(1, 1, 500);
  story.samples(1);
  story.waits(2, {.mib = 900, .seconds = 300}, 1);       // fits when job 1 has ended
  story.waits(3, {.mib = 300, .seconds = 30}, 1);        // is over by then
  story.waits(4, {.mib = 300, .seconds = 2000}, 1, -1);  // is not
  EXPECT_THAT(story.rules(1), ElementsAre("admit 3"));
  EXPECT_EQ(story.governor.holding()->job, JobId{2});
}

TEST(GovernorAdmission, AGiantIsNotStarvedForEver) {
  Story story(small());
  unsigned next = 10;
  story.waits(1, {.mib = 400, .seconds = 100, .known = 10});
  story.rules(0);
  story.waits(2, {.mib = 990, .seconds = 10}, 0.5);
  // Estimates promise again and again that the place is about to be free; short jobs come in.
  bool admitted = false;
  unsigned running = 1;
  double started = 0;
  for (double t = 1; t < 4000 && !admitted; t += 20) {
    story.uses(running, t, 400, started);
    story.samples(t);
    story.waits(next, {.mib = 400, .seconds = 100}, t);
    for (const std::string& word : story.rules(t)) {
      if (word == "admit 2") admitted = true;
      if (word == "admit " + std::to_string(next)) {
        story.ends(running, t + 1);
        running = next;
        started = t;
      }
    }
    if (t - started > 100 && story.governor.running() == 1 && !admitted) {
      story.ends(running, t + 2);
      for (const std::string& word : story.rules(t + 2)) {
        if (word == "admit 2") admitted = true;
        if (word.starts_with("admit ") && word != "admit 2") {
          running = number_in(word);
          started = t + 2;
        }
      }
    }
    ++next;
  }
  EXPECT_TRUE(admitted);
}

TEST(GovernorAdmission, WhatIsLargerThanEverythingRunsAlone) {
  Story story(small());
  story.waits(1, {.mib = 5000});
  EXPECT_THAT(story.rules(0), ElementsAre("admit 1"));
  EXPECT_THAT(story.reasons, ElementsAre("nothing else is running"));
}

TEST(GovernorAdmission, StopsWhenTheCoresAreSpokenFor) {
  Story story({.line = mib(1000), .cores = 4, .jobs_max = 1000});
  for (unsigned id = 1; id <= 8; ++id) story.waits(id, {.mib = 10, .cores = 2});
  EXPECT_EQ(story.rules(0).size(), 3u);  // 4.8 cores and what the last one needs
  EXPECT_EQ(story.governor.holding()->cause, HoldCause::cores);
}

TEST(GovernorAdmission, OnlyToFillGapsNobodyStartsWhereMemoryIsScarce) {
  for (const double cores : {1.0, 2.0}) {
    Story story({.line = mib(1000), .cores = 4, .jobs_max = 1000});
    for (unsigned id = 1; id <= 3; ++id) story.waits(id, {.mib = 300, .cores = cores});
    EXPECT_THAT(story.rules(0), SizeIs(cores > 1 ? 2 : 3));
    if (cores > 1) {
      EXPECT_EQ(story.governor.holding()->cause, HoldCause::memory);
      EXPECT_THAT(story.governor.holding()->reason, HasSubstr("30 % is kept free"));
    }
  }
}

// Full cores hardly slow who wants so little of them, nor does it slow others.
TEST(GovernorAdmission, WhoWantsLittleOfTheCoresIsNoGap) {
  for (const double cores : {0.3, 0.6}) {
    Story story({.line = mib(1000), .cores = 4, .jobs_max = 1000});
    for (unsigned id = 1; id <= 2; ++id) story.waits(id, {.mib = 300, .cores = 2});
    EXPECT_THAT(story.rules(0), SizeIs(2));
    story.waits(3, {.mib = 300, .cores = cores});
    EXPECT_THAT(story.rules(0), SizeIs(cores < 0.5 ? 1 : 0)) << cores;
  }
}

TEST(GovernorAdmission, OtherProgramsHoldNobodyBack) {
  // Others keep both cores busy; ours start all the same, up to what they themselves want of two.
  Story story(two_cores());
  for (unsigned id = 1; id <= 4; ++id) {
    story.samples(id, {.cores_busy = 2, .pool_cores = 0, .stall = {}});
    story.waits(id, {.mib = 10}, id);
    EXPECT_THAT(story.rules(id), SizeIs(id <= 3 ? 1 : 0)) << id;
  }
  ASSERT_TRUE(story.governor.holding());
  EXPECT_EQ(story.governor.holding()->cause, HoldCause::cores);
  EXPECT_THAT(story.governor.holding()->reason,
              AllOf(HasSubstr("want 3, and there are 2"), HasSubstr("other programs use 2")));
}

TEST(GovernorAdmission, WhoHardlyComputesTakesNobodysCore) {
  Story story(two_cores());
  for (unsigned id = 1; id <= 3; ++id) story.waits(id, {.mib = 10});
  story.samples(0, {.cores_busy = 2, .pool_cores = 0, .stall = {}});
  EXPECT_THAT(story.rules(0), SizeIs(3));
  for (unsigned id = 4; id <= 40; ++id) story.waits(id, {.mib = 1, .cores = 0.002}, 1);
  EXPECT_THAT(story.rules(1), SizeIs(37));
  story.waits(41, {.mib = 1, .cores = 1}, 2);
  EXPECT_THAT(story.rules(2), IsEmpty());
}

TEST(GovernorAdmission, WhoHasWaitedForLongEnoughWaitsForMemoryAlone) {
  GovernorConfig config = small();
  config.cores = 1;
  config.cores_wait_max = std::chrono::seconds(5);
  Story story(config);
  story.waits(1, {.mib = 300, .cores = 2});
  EXPECT_THAT(story.rules(0), SizeIs(1));
  story.waits(2, {.mib = 300}, 1);
  story.waits(3, {.mib = 300, .known = 0}, 2);
  story.waits(4, {.mib = 300}, 2);
  for (const double t : {2.0, 3.0, 4.0, 5.0}) {
    story.uses(1, t, 300);
    story.samples(t);
    EXPECT_THAT(story.rules(t), IsEmpty());
    EXPECT_EQ(story.governor.holding()->cause, HoldCause::cores);
  }
  EXPECT_THAT(story.rules(6), ElementsAre("admit 2"));
  EXPECT_THAT(story.rules(7), SizeIs(1));
  EXPECT_EQ(story.governor.holding()->cause, HoldCause::memory);
}

TEST(GovernorAdmission, UnknownJobsStartInGrowingWaves) {
  Story story({.line = mib(100000), .cores = 64, .jobs_max = 1000});
  for (unsigned id = 1; id <= 100; ++id) story.waits(id, {.mib = 10, .known = 0});
  EXPECT_EQ(story.rules(0).size(), 4u);
  EXPECT_EQ(story.governor.holding()->cause, HoldCause::pace);
  for (unsigned id = 1; id <= 100; ++id) {
    if (story.governor.running() >= id) story.uses(id, 2, 10);
  }
  story.samples(2);
  EXPECT_EQ(story.rules(2).size(), 8u);
}

TEST(GovernorAdmission, HoldsForIoOnlyWhoIsKnownForIt) {
  Story story(small());
  story.governor.expect(Kind{1}, flat({.mib = 10, .cores = 0.1}));
  for (unsigned id : {1u, 2u, 4u}) {
    story.enters({.job = JobId{id}, .kind = Kind{1}});
  }
  // Those of the first kind wait for I/O, and one moves as much as two do.
  std::vector<unsigned> running;
  const auto look = [&story, &running](double from, double to, double waited) {
    for (double t = from; t < to; t += 0.25) {
      for (const unsigned id : running) {
        story.governor.observe(story.job(id),
                               {.ran = at(t) - story.job(id).member->started,
                                .used = mib(10),
                                .peak = mib(10),
                                .cpu = std::chrono::seconds(1),
                                .io = mib(100 * t),
                                .io_wait = at(0.9 * t) - at(0)},
                               at(t));
        story.used[id] = 10;
      }
      story.samples(t, {.stall = {}, .io = PoolIo{.waited = waited, .bytes_per_second = 1e8}});
    }
  };
  EXPECT_THAT(story.rules(0, 1), ElementsAre("admit 1"));
  running = {1};
  look(0, 5, 0.7);
  EXPECT_THAT(story.rules(5, 1), ElementsAre("admit 2"));
  running = {1, 2};
  look(5, 10, 0.7);
  story.waits(3, {.mib = 10, .cores = 8}, 10);
  EXPECT_THAT(story.rules(10), ElementsAre("admit 3"));
  EXPECT_EQ(story.governor.holding()->cause, HoldCause::disk);
  look(10, 14, 0.1);
  EXPECT_THAT(story.rules(14), ElementsAre("admit 4"));
}

TEST(GovernorAdmission, TheMachineBoundsAsTheLineDoes) {
  Story story({.line = mib(1000), .cores = 8, .jobs_max = 1000, .reserve = mib(100)});
  story.samples(0, {.available = mib(500), .stall = {}});
  for (unsigned id = 1; id <= 3; ++id) story.waits(id, {.mib = 180});
  EXPECT_EQ(story.rules(0).size(), 2u);  // 400 MiB are left above the reserve
}

// Files that an ended job has left in shared memory are the pool's, and no job's.
TEST(GovernorAdmission, WhatThePoolHasBeyondItsJobsTakesRoom) {
  Story story({.line = mib(1000), .cores = 8, .jobs_max = 1000});
  story.waits(1, {.mib = 300});
  story.rules(0);
  story.uses(1, 1, 300);
  MachineSample sample;
  sample.pool_used = mib(800);  // 500 MiB of nobody's
  story.governor.tick(sample, at(1));
  story.waits(2, {.mib = 300}, 1);
  EXPECT_THAT(story.rules(1), IsEmpty());
  sample.pool_used = mib(300);  // somebody has deleted them
  story.governor.tick(sample, at(3));
  EXPECT_THAT(story.rules(3), ElementsAre("admit 2"));
}

TEST(GovernorAdmission, WhereThePoolCanNotBeReadItsJobsTogetherStandIn) {
  Story story({.line = mib(1000), .cores = 8, .jobs_max = 1000});
  story.waits(1, {.mib = 700});
  story.rules(0);
  story.uses(1, 1, 700);
  story.governor.tick({}, at(1));
  EXPECT_EQ(story.governor.used(), mib(700));
  story.uses(1, 2, 800);
  EXPECT_EQ(story.governor.used(), mib(800));
  story.waits(2, {.mib = 300}, 2);
  EXPECT_THAT(story.rules(2), IsEmpty());
}

TEST(GovernorAdmission, JobsMaxIsABoundThatCanBeMoved) {
  Story story({.line = mib(1000), .cores = 8, .jobs_max = 1});
  story.waits(1, {.mib = 10});
  story.waits(2, {.mib = 10});
  EXPECT_THAT(story.rules(0), ElementsAre("admit 1"));
  EXPECT_EQ(story.governor.holding()->cause, HoldCause::places);
  story.governor.set_jobs_max(2);
  EXPECT_THAT(story.rules(0.1), ElementsAre("admit 2"));
}

TEST(GovernorAdmission, WhoGrowsHasNotShownItsNeedsAfterTwoSeconds) {
  Story story({.line = mib(1000), .cores = 64, .jobs_max = 1000});
  for (unsigned id = 1; id <= 20; ++id) {
    story.waits(id, {.mib = 10, .cores = 0.01, .known = 0});
  }
  ASSERT_THAT(story.rules(0), SizeIs(4));
  for (double t = 0.5; t < 10; t += 0.5) {
    for (unsigned id = 1; id <= 4; ++id) story.uses(id, t, 5 * t);
    story.samples(t);
    EXPECT_THAT(story.rules(t), IsEmpty()) << t;
  }
  // They stop growing.
  for (double t = 10; t < 11; t += 0.25) {
    for (unsigned id = 1; id <= 4; ++id) story.uses(id, t, 50);
    story.samples(t);
  }
  EXPECT_THAT(story.rules(11), SizeIs(8));
}

// Who goes up and down is planned for with what it has when it is up, as nobody knows when that is;
// of many only some are up at once.
TEST(GovernorAdmission, SwingsOfAFewAddUpAndThoseOfManyArePooled) {
  const auto admitted = [](double mib_each, unsigned jobs) {
    Story story({.line = mib(1000), .cores = 1000, .jobs_max = 1000});
    Estimate swinging = flat({.mib = mib_each, .cores = 0.01});
    swinging.swing.fill(mib_each * 1048576);
    story.governor.expect(Kind{1}, swinging);
    for (unsigned id = 1; id <= jobs; ++id) {
      story.enters({.job = JobId{id}, .kind = Kind{1}});
    }
    return story.rules(0).size();
  };
  EXPECT_EQ(admitted(120, 20), 4u);   // 4 x 240; without swings 8
  EXPECT_GT(admitted(10, 200), 65u);  // all at once would be 50
  EXPECT_LT(admitted(10, 200), 97u);  // without swings
}

TEST(GovernorAdmission, GoesOnAfterTroubleOnceAllWereLookedAt) {
  Story story({.line = mib(1000), .cores = 8, .jobs_max = 100});
  for (unsigned id = 1; id <= 3; ++id) story.waits(id, {.mib = 300});
  ASSERT_THAT(story.rules(0), SizeIs(3));
  for (double t = 1; t < 9; t += 0.5) {
    for (unsigned id = 1; id <= 3; ++id) story.uses(id, t, std::min(300.0, 60 * t));
    story.samples(t);
    ASSERT_THAT(story.rules(t), IsEmpty());
  }
  story.uses(3, 9, 385);
  story.samples(9);
  ASSERT_THAT(story.rules(9), Contains("freeze 3"));
  story.governor.expect(story.job(3), flat({.mib = 385}), at(9));
  story.waits(4, {.mib = 1, .cores = 0.01}, 9);
  EXPECT_THAT(story.rules(9.1), IsEmpty());
  ASSERT_TRUE(story.governor.holding());
  EXPECT_EQ(story.governor.holding()->cause, HoldCause::calm);
  for (unsigned id = 1; id <= 2; ++id) {
    story.uses(id, 9.2, 250);
    story.governor.expect(story.job(id), flat({.mib = 250}), at(9.2));
  }
  story.samples(9.2);
  EXPECT_THAT(story.rules(9.2), Contains("admit 4"));
}

TEST(GovernorUsed, WhatTheLastLookAtThePoolHasSeenCountsOnce) {
  Story story({.line = mib(1000), .cores = 8, .jobs_max = 100});
  story.waits(1, {.mib = 500});
  ASSERT_THAT(story.rules(0), SizeIs(1));
  story.uses(1, 1, 100);
  story.samples(1);
  // It grows evenly from 100 to 200; the pool is looked at when it has 190.
  story.governor.tick({.pool_used = mib(190), .stall = {}}, at(1.9));
  story.uses(1, 2, 200);
  EXPECT_NEAR(static_cast<double>(story.governor.used().count) / 1048576, 200, 1);
}

}  // namespace
}  // namespace plimsoll::policy

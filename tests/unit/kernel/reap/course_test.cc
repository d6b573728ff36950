#include "kernel/reap/course.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace plimsoll::reap {
namespace {

using namespace std::chrono_literals;
using Act = Course::Act;
using cgroup::Removal;

constexpr Instant at(Duration since) { return Instant(since); }

struct CourseTest : ::testing::Test {
  Course course{at(0s)};

  // Looks whenever it is due, always finding somebody, up to and including `end`.
  std::vector<Duration> run_populated_until(Duration end) {
    std::vector<Duration> reports;
    for (Instant now = due; now <= at(end); now = due) {
      const auto next = course.looked(Occupancy::populated, now);
      EXPECT_EQ(next.act, Act::kill);
      EXPECT_GT(next.look_again, now);
      if (next.report_stuck) reports.push_back(now.time_since_epoch());
      due = next.look_again;
      ++kills;
    }
    return reports;
  }
  Instant due = at(0s);
  int kills = 0;
};

TEST_F(CourseTest, AnOrdinaryEndIsRemovedWithoutAKill) {
  EXPECT_EQ(course.state(), State::live);
  EXPECT_EQ(course.looked(Occupancy::empty, at(0s)).act, Act::remove);
  EXPECT_EQ(course.state(), State::removing);
  EXPECT_EQ(course.removed(Removal::done, at(1ms)).act, Act::finish);
  EXPECT_EQ(course.state(), State::gone);
}

TEST_F(CourseTest, KillsAgainAtEachStepOfTheBackOff) {
  std::vector<Duration> waits;
  Instant now = at(0s);
  for (int i = 0; i < 9; ++i) {
    const auto next = course.looked(Occupancy::populated, now);
    EXPECT_EQ(next.act, Act::kill);
    EXPECT_EQ(course.state(), State::killing);
    waits.push_back(next.look_again - now);
    now = next.look_again;
  }
  EXPECT_THAT(waits, ::testing::ElementsAre(1ms, 2ms, 4ms, 8ms, 16ms, 32ms, 64ms, 128ms, 250ms));
  EXPECT_EQ(course.looked(Occupancy::empty, now).act, Act::remove);
}

TEST_F(CourseTest, AnEventThatDidNotEmptyTheGroupKillsNobodyEarly) {
  EXPECT_EQ(course.looked(Occupancy::populated, at(0ms)).act, Act::kill);
  EXPECT_EQ(course.looked(Occupancy::populated, at(1ms)).act, Act::kill);
  const auto early = course.looked(Occupancy::populated, at(2ms));
  EXPECT_EQ(early.act, Act::wait);
  EXPECT_EQ(early.look_again, at(3ms));
  EXPECT_EQ(course.looked(Occupancy::empty, at(2ms)).act, Act::remove);
}

TEST_F(CourseTest, AKillThatTheFreezerHeldBackStartsTheWaitsOver) {
  (void)run_populated_until(63ms);
  EXPECT_EQ(due, at(127ms));
  EXPECT_EQ(course.looked(Occupancy::populated, at(127ms)).look_again, at(255ms));
  EXPECT_EQ(course.struck_late(at(127ms)).look_again, at(128ms));
  EXPECT_EQ(course.looked(Occupancy::populated, at(128ms)).look_again, at(130ms));
}

TEST_F(CourseTest, ReportsAStuckGroupAtOneFiveThirtySecondsAndThenEachMinute) {
  EXPECT_THAT(run_populated_until(200s), ::testing::ElementsAre(1s, 5s, 30s, 90s, 150s));
  EXPECT_EQ(course.state(), State::stuck);
  EXPECT_LT(kills, 220) << "about one look a second";
  EXPECT_EQ(course.looked(Occupancy::empty, due).act, Act::remove);
}

TEST_F(CourseTest, ALateLookReportsOnceForAllThatItMissed) {
  EXPECT_EQ(course.looked(Occupancy::populated, at(0s)).report_stuck, false);
  EXPECT_EQ(course.looked(Occupancy::populated, at(40s)).report_stuck, true);
  EXPECT_EQ(course.looked(Occupancy::populated, at(42s)).report_stuck, false);
  EXPECT_EQ(course.looked(Occupancy::populated, at(95s)).report_stuck, true);
}

TEST_F(CourseTest, ARefusedRemovalLooksAtEveryPartAndWaitsItsTurn) {
  EXPECT_EQ(course.scope(), cgroup::Scope::v2_first);
  EXPECT_EQ(course.looked(Occupancy::empty, at(0s)).act, Act::remove);
  const auto refused = course.removed(Removal::busy, at(5ms));
  EXPECT_EQ(refused.act, Act::wait);
  EXPECT_EQ(refused.look_again, at(6ms));
  EXPECT_EQ(course.state(), State::draining);
  EXPECT_EQ(course.scope(), cgroup::Scope::every_part);

  EXPECT_EQ(course.looked(Occupancy::populated, at(6ms)).act, Act::kill);
  EXPECT_EQ(course.state(), State::killing);
  EXPECT_EQ(course.looked(Occupancy::empty, at(8ms)).act, Act::remove);
  EXPECT_EQ(course.removed(Removal::done, at(9ms)).act, Act::finish);
}

TEST_F(CourseTest, ARemovalThatIsRefusedForeverIsReportedFromFiveSecondsOnAndTriedOnceASecond) {
  std::vector<Duration> reports;
  int removals = 0;
  Instant now = at(0s);
  while (now < at(32s)) {
    ASSERT_EQ(course.looked(Occupancy::empty, now).act, Act::remove);
    ++removals;
    const auto next = course.removed(Removal::busy, now);
    if (next.report_stuck) reports.push_back(now.time_since_epoch());
    now = next.look_again;
  }
  EXPECT_THAT(reports, ::testing::ElementsAre(5s, 30s));
  EXPECT_LT(removals, 50);
}

TEST_F(CourseTest, WhatCanNeverBeRemovedIsLeftAtOnce) {
  EXPECT_EQ(course.looked(Occupancy::empty, at(0s)).act, Act::remove);
  EXPECT_EQ(course.denied().act, Act::finish);
  EXPECT_EQ(course.state(), State::left);
}

TEST_F(CourseTest, WhoGivesUpLeavesAnEmptyGroupThatRefusesItsRemovalForLong) {
  course.give_up();
  EXPECT_EQ(course.looked(Occupancy::empty, at(0s)).act, Act::remove);
  // A healthy machine may still remove it.
  const auto soon = course.removed(Removal::busy, at(999ms));
  EXPECT_EQ(soon.act, Act::wait);
  EXPECT_EQ(course.looked(Occupancy::empty, soon.look_again).act, Act::remove);
  EXPECT_EQ(course.removed(Removal::busy, at(1s)).act, Act::finish);
  EXPECT_EQ(course.state(), State::left);
}

TEST_F(CourseTest, WhoGivesUpLeavesProcessesThatDoNotDie) {
  course.give_up();
  // A healthy machine may still end them.
  EXPECT_EQ(course.looked(Occupancy::populated, at(0s)).act, Act::kill);
  EXPECT_EQ(course.looked(Occupancy::populated, at(999ms)).act, Act::kill);
  EXPECT_EQ(course.looked(Occupancy::populated, at(2s)).act, Act::finish);
  EXPECT_EQ(course.state(), State::left);
}

TEST_F(CourseTest, WhoGivesUpLateLeavesThemAtTheNextLook) {
  (void)run_populated_until(40s);
  EXPECT_EQ(course.state(), State::stuck);
  course.give_up();
  EXPECT_EQ(course.looked(Occupancy::populated, due).act, Act::finish);
  EXPECT_EQ(course.state(), State::left);
}

}  // namespace
}  // namespace plimsoll::reap

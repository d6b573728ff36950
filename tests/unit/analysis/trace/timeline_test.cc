#include "analysis/trace/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace plimsoll::analysis {
namespace {

using namespace std::chrono_literals;
using policy::EventKind;
using ::testing::IsEmpty;
using ::testing::SizeIs;

report::RecordedEvent event(Duration t, EventKind kind, const std::string& job = {},
                            const std::string& reason = {}) {
  return {.t = t, .kind = kind, .job = job, .reason = reason};
}

TEST(Timeline, APauseIsWithinItsAttemptAndNotRunningTime) {
  const Timeline timeline =
      timeline_of({event(0s, EventKind::queued, "a"), event(1s, EventKind::started, "a"),
                   event(3s, EventKind::frozen, "a", "it grows"), event(7s, EventKind::thawed, "a"),
                   event(10s, EventKind::ended, "a", "exited")});
  ASSERT_THAT(timeline.attempts, SizeIs(1));
  const TimelineAttempt& attempt = timeline.attempts[0];
  EXPECT_EQ(attempt.from, 1s);
  EXPECT_EQ(attempt.to, 10s);
  ASSERT_THAT(attempt.pauses, SizeIs(1));
  EXPECT_EQ(attempt.pauses[0].reason, "it grows");
  EXPECT_EQ(attempt.paused(), 4s);
  EXPECT_EQ(attempt.ran(), 5s);
  EXPECT_EQ(attempt.ending, AttemptEnding::ended);
}

TEST(Timeline, AnEvictionIsFollowedByTheNextAttemptOfTheJob) {
  const Timeline timeline = timeline_of(
      {event(0s, EventKind::started, "a"), event(2s, EventKind::frozen, "a"),
       event(3s, EventKind::evicted, "a", "the line"),
       event(4s, EventKind::requeued, "a", "was evicted"), event(6s, EventKind::admitted, "a"),
       event(6s, EventKind::started, "a"), event(9s, EventKind::ended, "a")});
  ASSERT_THAT(timeline.attempts, SizeIs(2));
  EXPECT_EQ(timeline.attempts[0].ending, AttemptEnding::evicted);
  EXPECT_EQ(timeline.attempts[0].reason, "the line");
  EXPECT_EQ(timeline.attempts[0].paused(), 2s);  // to its end
  EXPECT_EQ(timeline.attempts[1].attempt, 2U);
  EXPECT_EQ(timeline.attempts[1].admitted_by, 0U);
}

TEST(Timeline, AJobThatWaitedWasAdmittedByTheLastThatLeft) {
  const Timeline timeline =
      timeline_of({event(0s, EventKind::started, "a"), event(0s, EventKind::started, "b"),
                   event(1s, EventKind::held, "c", "no memory"), event(4s, EventKind::ended, "a"),
                   event(4s, EventKind::admitted, "c"), event(4s, EventKind::started, "c"),
                   event(5s, EventKind::admitted, "d"), event(5s, EventKind::started, "d"),
                   event(6s, EventKind::ended, "b"), event(7s, EventKind::ended, "c")});
  ASSERT_THAT(timeline.attempts, SizeIs(4));
  EXPECT_EQ(timeline.attempts[2].admitted_by, 0U);
  EXPECT_FALSE(timeline.attempts[3].admitted_by);  // it had not waited
  ASSERT_THAT(timeline.holds, SizeIs(1));
  EXPECT_EQ(timeline.holds[0].to - timeline.holds[0].from, 3s);
  EXPECT_EQ(timeline.holds[0].reason, "no memory");
}

TEST(Timeline, AnEndBeforeTheHoldAdmitsNobody) {
  const Timeline timeline =
      timeline_of({event(0s, EventKind::started, "a"), event(1s, EventKind::ended, "a"),
                   event(2s, EventKind::held, "b"), event(3s, EventKind::admitted, "b"),
                   event(3s, EventKind::started, "b"), event(4s, EventKind::ended, "b")});
  EXPECT_FALSE(timeline.attempts.at(1).admitted_by);
}

TEST(Timeline, NoTwoAttemptsThatOverlapShareALane) {
  const Timeline timeline =
      timeline_of({event(0s, EventKind::started, "a"), event(1s, EventKind::started, "b"),
                   event(2s, EventKind::ended, "a"), event(2s, EventKind::started, "c"),
                   event(3s, EventKind::ended, "b"), event(3s, EventKind::started, "d"),
                   event(9s, EventKind::ended, "c"), event(9s, EventKind::ended, "d")});
  EXPECT_EQ(timeline.lanes, 2U);
  for (const TimelineAttempt& one : timeline.attempts) {
    for (const TimelineAttempt& other : timeline.attempts) {
      if (&one == &other || one.lane != other.lane) continue;
      EXPECT_TRUE(one.to <= other.from || other.to <= one.from) << one.job << " and " << other.job;
    }
  }
}

TEST(Timeline, WhatTheRecordDoesNotEndEndsWithIt) {
  const Timeline timeline =
      timeline_of({event(0s, EventKind::started, "a"), event(1s, EventKind::frozen, "a"),
                   event(2s, EventKind::held, "b"), event(5s, EventKind::alarm)});
  EXPECT_EQ(timeline.attempts.at(0).ending, AttemptEnding::unending);
  EXPECT_EQ(timeline.attempts.at(0).to, 5s);
  EXPECT_EQ(timeline.attempts.at(0).paused(), 4s);
  EXPECT_EQ(timeline.holds.at(0).to, 5s);
}

TEST(Timeline, StatesAreCounted) {
  const Timeline timeline =
      timeline_of({event(0s, EventKind::queued, "a"), event(0s, EventKind::queued, "b"),
                   event(1s, EventKind::started, "a"), event(2s, EventKind::frozen, "a"),
                   event(3s, EventKind::ended, "a"), event(4s, EventKind::ended, "b", "skipped")});
  ASSERT_THAT(timeline.counts, SizeIs(5));
  EXPECT_EQ(timeline.counts[0].waiting, 2);
  EXPECT_EQ(timeline.counts[1].running, 1);
  EXPECT_EQ(timeline.counts[2].paused, 1);
  EXPECT_EQ(timeline.counts[2].running, 0);
  EXPECT_EQ(timeline.counts[3].paused, 0);
  EXPECT_EQ(timeline.counts[4].waiting, 0);
}

TEST(Timeline, OfNothingThereIsNothing) {
  const Timeline timeline = timeline_of({});
  EXPECT_THAT(timeline.attempts, IsEmpty());
  EXPECT_EQ(timeline.lanes, 0U);
}

}  // namespace
}  // namespace plimsoll::analysis

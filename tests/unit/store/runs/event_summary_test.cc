#include "store/runs/event_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runs.h"

namespace plimsoll::report {
namespace {

using namespace testing;
using policy::EventKind;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(EventSummary, OfNothing) {
  const EventSummary story = event_summary_of({});
  EXPECT_THAT(story.held, IsEmpty());
  EXPECT_THAT(story.pauses, IsEmpty());
  EXPECT_THAT(story.losses, IsEmpty());
}

TEST(EventSummary, HoldsAddUpByReason) {
  const EventSummary story = event_summary_of({
      event(0s, EventKind::held, "a", "needs 2 GiB, 1 GiB is free"),
      event(3s, EventKind::held, "a", "the machine stalls"),
      event(4s, EventKind::alarm, ""),
      event(5s, EventKind::admitted, "a"),
      event(6s, EventKind::started, "a"),
      event(10s, EventKind::held, "b", "needs 3 GiB, 512 MiB is free"),
      event(11s, EventKind::admitted, "c"),  // another goes before it
      event(14s, EventKind::admitted, "b"),
      event(20s, EventKind::ended, "b"),
  });
  ASSERT_THAT(story.held, SizeIs(2));
  EXPECT_EQ(story.held[0].reason, "needs 2 to 3 GiB, 512 MiB to 1 GiB is free");
  EXPECT_EQ(story.held[0].times, 2U);
  EXPECT_EQ(story.held[0].jobs, 2U);
  EXPECT_EQ(story.held[0].in_all, 7s);
  EXPECT_EQ(story.held[1].reason, "the machine stalls");
  EXPECT_EQ(story.held[1].in_all, 2s);
}

TEST(EventSummary, WhatHasNotEndedEndsWithTheLastEvent) {
  const EventSummary story = event_summary_of({
      event(1s, EventKind::held, "a", "needs 2 GiB"),
      event(2s, EventKind::frozen, "b", "it grows"),
      event(5s, EventKind::alarm, ""),
  });
  EXPECT_EQ(story.end, 5s);
  ASSERT_THAT(story.held, SizeIs(1));
  EXPECT_EQ(story.held[0].in_all, 4s);
  EXPECT_EQ(story.held[0].reason, "needs 2 GiB");  // told once: as it was
  ASSERT_THAT(story.pauses, SizeIs(1));
  EXPECT_EQ(story.pauses[0].length, std::nullopt);
}

TEST(EventSummary, PausesEndByThawOrDeath) {
  const EventSummary story = event_summary_of({
      event(1s, EventKind::frozen, "a", "it grows"),
      event(2s, EventKind::frozen, "b", "it grows too"),
      event(4s, EventKind::thawed, "a"),
      event(5s, EventKind::evicted, "b", "no room"),
      event(5s, EventKind::requeued, "b"),
      event(6s, EventKind::frozen, "a", "again"),
      event(9s, EventKind::ended, "a"),
      event(9s, EventKind::failed, "c", "alone and past the line"),
  });
  ASSERT_THAT(story.pauses, SizeIs(3));
  EXPECT_EQ(story.pauses[0].length, 3s);
  EXPECT_EQ(story.pauses[1].length, 3s);
  EXPECT_EQ(story.pauses[2].length, 3s);
  EXPECT_EQ(story.pauses[2].reason, "again");
  ASSERT_THAT(story.losses, SizeIs(2));
  EXPECT_EQ(story.losses[0].job, "b");
  EXPECT_EQ(story.losses[1].kind, EventKind::failed);
}

}  // namespace
}  // namespace plimsoll::report

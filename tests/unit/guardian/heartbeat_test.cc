#include "guardian/heartbeat.h"

#include <gtest/gtest.h>

namespace plimsoll::guardian {
namespace {

using std::chrono::milliseconds;

Instant at(int ms) { return Instant(milliseconds(ms)); }

struct Both {
  Heartbeat supervisor = *Heartbeat::make();
  Heartbeat guardian = supervisor.clone();
};

TEST(Heartbeat, BeatsAreSeenByTheOther) {
  Both both;
  const std::uint64_t before = both.guardian.beats();
  both.supervisor.beat();
  EXPECT_EQ(both.guardian.beats(), before + 1);
}

TEST(Heartbeat, WhoHasBegunIsNotEndedAndWhoIsEndedDoesNotBegin) {
  Both both;
  EXPECT_FALSE(both.guardian.has_begun());
  EXPECT_TRUE(both.supervisor.begin());
  EXPECT_TRUE(both.guardian.has_begun());
  EXPECT_FALSE(both.guardian.prevent_begin());
  Both other;
  EXPECT_TRUE(other.guardian.prevent_begin());
  EXPECT_FALSE(other.supervisor.begin());
  EXPECT_FALSE(other.guardian.has_begun());
}

TEST(Heartbeat, NobodyIsHeldWhoIsNotWatched) {
  Both both;
  EXPECT_FALSE(both.guardian.is_watched());
  EXPECT_FALSE(both.guardian.begin_hold(at(1000)));
  both.supervisor.watch();
  EXPECT_TRUE(both.guardian.is_watched());
  EXPECT_TRUE(both.guardian.begin_hold(at(1000)));
}

TEST(Heartbeat, TheClockOfTheJobsStandsWhileTheyAreHeld) {
  Both both;
  both.supervisor.watch();
  EXPECT_EQ(both.supervisor.stalled(at(900)), Duration{});
  ASSERT_TRUE(both.guardian.begin_hold(at(1000)));
  both.guardian.hold();
  EXPECT_TRUE(both.supervisor.is_held());
  EXPECT_EQ(at(1000) - both.supervisor.stalled(at(1000)), at(1000));
  EXPECT_EQ(at(1700) - both.supervisor.stalled(at(1700)), at(1000));
  ASSERT_TRUE(both.guardian.begin_let_go());
  both.guardian.let_go(at(1800));
  EXPECT_FALSE(both.supervisor.is_held());
  EXPECT_EQ(both.supervisor.stalls(), 1u);
  EXPECT_EQ(both.supervisor.stalled(at(1800)), milliseconds(800));
  EXPECT_EQ(both.supervisor.stalled(at(5000)), milliseconds(800));
  // A second time adds to the first.
  ASSERT_TRUE(both.guardian.begin_hold(at(6000)));
  both.guardian.hold();
  EXPECT_EQ(at(6300) - both.supervisor.stalled(at(6300)), at(5200));
  ASSERT_TRUE(both.guardian.begin_let_go());
  both.guardian.let_go(at(6500));
  EXPECT_EQ(both.supervisor.stalls(), 2u);
  EXPECT_EQ(both.supervisor.stalled(at(7000)), milliseconds(1300));
}

TEST(Heartbeat, WhoGivesUpTheWatchTakesOverWhatIsHeld) {
  Both both;
  both.supervisor.watch();
  EXPECT_EQ(both.supervisor.release(at(1)), Heartbeat::Left::alone);
  both.supervisor.watch();
  ASSERT_TRUE(both.guardian.begin_hold(at(1000)));
  both.guardian.hold();
  EXPECT_EQ(both.supervisor.release(at(1500)), Heartbeat::Left::held);
  // The guardian finds out and leaves the pool as it is.
  EXPECT_FALSE(both.guardian.begin_let_go());
  EXPECT_FALSE(both.guardian.is_watched());
  EXPECT_EQ(both.supervisor.stalled(at(9000)), milliseconds(500));
  EXPECT_EQ(both.supervisor.stalls(), 1u);
}

TEST(Heartbeat, NothingIsHeldTwice) {
  Both both;
  both.supervisor.watch();
  ASSERT_TRUE(both.guardian.begin_hold(at(1)));
  EXPECT_FALSE(both.guardian.begin_hold(at(2)));
  both.guardian.hold();
  EXPECT_FALSE(both.guardian.begin_hold(at(3)));
}

}  // namespace
}  // namespace plimsoll::guardian

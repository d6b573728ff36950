#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "disk_story.h"

// Users beside each other on one file system: what one of them writes, or says that he will, keeps
// no other from his part of it.
namespace plimsoll::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Tenant kAlice{1001}, kBob{1002}, kCarol{1003};
constexpr double kMuch = 1e9;  // MiB: more than there is

// Of so many MiB that were free, a job of Alice's that was believed to write 10 has taken these by
// 1 s.
OnADisk taken_by_hers(double free, double taken) {
  OnADisk disk;
  static_cast<void>(disk.is_free(free, 0));
  disk.writer_of(kAlice, 1, 10);
  EXPECT_THAT(disk.rules(0), ElementsAre("admit 1"));
  disk.has_written(1, taken, 1);
  static_cast<void>(disk.is_free(free - taken, 1));
  return disk;
}

TEST(DiskTenants, AHintHoldsUpOthersForAMinuteAndThenNotBeyondAnEqualPart) {
  OnADisk disk;
  static_cast<void>(disk.is_free(1000, 0));
  disk.writer_of(kAlice, 1, kMuch);
  EXPECT_THAT(disk.rules(0), ElementsAre("admit 1"));
  for (unsigned id = 11; id <= 16; ++id) disk.writer_of(kBob, id, 100, 50);
  EXPECT_THAT(disk.rules(50), IsEmpty());
  EXPECT_EQ(disk.cause(), HoldCause::space);
  // Half of the 900 MiB above the floor is his.
  EXPECT_THAT(disk.rules(61), ElementsAre("admit 11", "admit 12", "admit 13", "admit 14"));
  EXPECT_EQ(disk.cause(), HoldCause::space);
  // And hers are not hers for good: what she has more than that keeps her own jobs alone waiting.
  disk.writer_of(kAlice, 2, 1, 62);
  EXPECT_THAT(disk.rules(63), IsEmpty());
}

TEST(DiskTenants, WhatIsWrittenCountsAsOnesPartAsWell) {
  OnADisk disk;
  static_cast<void>(disk.is_free(1000, 0));
  disk.writer_of(kAlice, 1, kMuch);
  static_cast<void>(disk.rules(0));
  disk.has_written(1, 300, 61);
  static_cast<void>(disk.is_free(700, 61));
  // Of her 450 MiB she has 300, so that 150 are kept for her and 450 are left for him.
  disk.writer_of(kBob, 11, 440, 61);
  disk.writer_of(kBob, 12, 20, 61);
  EXPECT_THAT(disk.rules(61), ElementsAre("admit 11"));
}

TEST(DiskTenants, WhoWaitsForHisPartIsNotOvertakenByWhoHasMore) {
  OnADisk disk;
  static_cast<void>(disk.is_free(1000, 0));
  disk.writer_of(kAlice, 1, 400);
  disk.writer_of(kAlice, 2, 400);
  EXPECT_THAT(disk.rules(0), ElementsAre("admit 1", "admit 2"));
  disk.writer_of(kBob, 11, 290, 1);
  disk.writer_of(kCarol, 21, 50, 1);
  disk.writer_of(kAlice, 3, 20, 1);
  // Hers would fit, but he waits for what she has more than a third; a third one does not.
  EXPECT_THAT(disk.rules(1), ElementsAre("admit 21"));
  disk.ends(1, 2);
  static_cast<void>(disk.is_free(1000, 2));
  EXPECT_THAT(disk.rules(2), ElementsAre("admit 11", "admit 3"));
}

// Whoever has least of memory, cores and places is heard first; that is not what matters here.
TEST(DiskTenants, BeItThatSheHasLessOfAllElse) {
  OnADisk disk;
  static_cast<void>(disk.is_free(1000, 0));
  disk.writer_of(kAlice, 1, 800);
  for (unsigned id = 31; id <= 36; ++id) disk.writer_of(kBob, id, 0);
  EXPECT_EQ(disk.rules(0).size(), 7u);
  disk.writer_of(kBob, 11, 300, 1);
  disk.writer_of(kAlice, 2, 50, 1);
  EXPECT_THAT(disk.rules(1), IsEmpty());
}

TEST(DiskTenants, AJobThatWouldTakeMoreThanHisPartKeepsNoOtherWaiting) {
  OnADisk disk;
  static_cast<void>(disk.is_free(1000, 0));
  disk.writer_of(kAlice, 1, 100);
  EXPECT_THAT(disk.rules(0), ElementsAre("admit 1"));
  disk.writer_of(kBob, 11, kMuch, 1);
  disk.writer_of(kBob, 12, 10, 1);
  EXPECT_THAT(disk.rules(1), IsEmpty()) << "his own wait behind it";
  for (unsigned id = 2; id <= 9; ++id) disk.writer_of(kAlice, id, 100, 2);
  EXPECT_EQ(disk.rules(2).size(), 8u);
  // It starts when nobody else writes, as it would for one user.
  for (unsigned id = 1; id <= 9; ++id) disk.ends(id, 3);
  EXPECT_THAT(disk.rules(3), ElementsAre("admit 11"));
}

TEST(DiskTenants, UnknownJobsOfOneUserLeavePlacesToThoseOfAnother) {
  OnADisk disk;
  static_cast<void>(disk.is_free(1000, 0));
  for (unsigned id = 1; id <= 12; ++id) disk.stranger(id, 1, kAlice);
  std::size_t started = disk.rules(0).size();
  for (const double t : {0.3, 0.6, 0.9}) {
    for (unsigned id = 1; id <= started; ++id) disk.has_written(id, 0, t);
    disk.samples(t);
    started += disk.rules(t).size();
  }
  EXPECT_EQ(started, kUnshownMost);
  disk.stranger(21, 2, kBob);
  EXPECT_THAT(disk.rules(1), ElementsAre("admit 21"));
}

// Its client runs it, and has not said where.
TEST(DiskTenants, JobsThatNobodyLooksAtAreNotWaitedForToShowThemselves) {
  OnADisk disk;
  static_cast<void>(disk.is_free(1000, 0));
  for (unsigned id = 1; id <= 5; ++id) disk.stranger(id, id);
  EXPECT_EQ(disk.rules(0).size(), kUnshownMost);
  disk.is_told_to_use(1, 0.5, 1);
  EXPECT_THAT(disk.rules(1), IsEmpty());
  EXPECT_EQ(disk.cause(), HoldCause::space);
  EXPECT_THAT(disk.rules(2.1), ElementsAre("admit 5"));
  // Nor for what they leave.
  disk.writer(6, 5000);
  static_cast<void>(disk.is_free(1000, 5));
  EXPECT_THAT(disk.rules(5), ElementsAre("admit 6"));
}

// She writes without end, and was there first.
TEST(DiskTenants, WhoHasMostBeyondAnEqualPartIsPausedFirstBeItTheKeel) {
  OnADisk disk = taken_by_hers(2000, 1300);
  disk.writer_of(kBob, 11, 100, 1);
  disk.writer_of(kBob, 12, 150, 1);
  EXPECT_THAT(disk.rules(1), ElementsAre("admit 11", "admit 12"));
  disk.has_written(11, 30, 2);
  disk.has_written(12, 30, 2);
  disk.has_written(1, 1850, 2);
  static_cast<void>(disk.is_free(90, 2));
  // One of his goes on, as the first that writes does. Hers does not.
  EXPECT_THAT(disk.rules(2), ElementsAre("freeze 12", "freeze 1"));
  EXPECT_THAT(disk.reasons.back(), HasSubstr("jobs with which their user has less of it go first"));
  EXPECT_EQ(disk.governor.keel(), JobId{11});
  EXPECT_THAT(disk.rules(4), IsEmpty()) << "it is not let go for being the oldest";
  // His next one goes before hers, though the space is no more.
  disk.ends(11, 5);
  static_cast<void>(disk.is_free(95, 5));
  EXPECT_THAT(disk.rules(5.1), ElementsAre("thaw 12"));
  disk.ends(12, 6);
  static_cast<void>(disk.is_free(95, 6));
  EXPECT_THAT(disk.rules(6.1), ElementsAre("thaw 1"));
  EXPECT_EQ(disk.governor.keel(), JobId{1});
}

// Each would be the oldest in its turn.
TEST(DiskTenants, NorDoOlderOnesOfHersGoOnOneAfterTheOther) {
  OnADisk disk = taken_by_hers(2000, 1100);
  for (unsigned id = 2; id <= 3; ++id) disk.writer_of(kAlice, id, 10, 1);
  disk.writer_of(kBob, 11, 100, 1);
  EXPECT_EQ(disk.rules(1).size(), 3u);
  disk.has_written(1, 1300, 2);
  for (const unsigned id : {2U, 3U, 11U}) disk.has_written(id, 200, 2);
  static_cast<void>(disk.is_free(90, 2));
  EXPECT_THAT(disk.rules(2), ElementsAre("freeze 1", "freeze 2", "freeze 3"));
  EXPECT_EQ(disk.governor.keel(), JobId{11});
  for (double t = 2.1; t < 4; t += 0.1) {
    static_cast<void>(disk.is_free(90, t));
    EXPECT_THAT(disk.rules(t), IsEmpty());
  }
}

// The oldest of all writes nothing. Hers was paused first, and still his next one goes before it.
TEST(DiskTenants, WhoHasLessOfTheSpaceGoesOnBeforeWhoHasMore) {
  OnADisk disk;
  static_cast<void>(disk.is_free(2000, 0));
  disk.writer_of(kCarol, 21, 0);
  disk.writer_of(kAlice, 1, 10);
  EXPECT_EQ(disk.rules(0).size(), 2u);
  disk.has_written(1, 1300, 1);
  static_cast<void>(disk.is_free(700, 1));
  disk.writer_of(kBob, 11, 100, 1);
  disk.writer_of(kBob, 12, 150, 1);
  EXPECT_EQ(disk.rules(1).size(), 2u);
  for (const unsigned id : {11U, 12U}) disk.has_written(id, 30, 2);
  disk.has_written(1, 1850, 2);
  static_cast<void>(disk.is_free(90, 2));
  EXPECT_THAT(disk.rules(2), ElementsAre("freeze 12", "freeze 1"));
  disk.ends(11, 5);
  static_cast<void>(disk.is_free(95, 5));
  EXPECT_THAT(disk.rules(5.1), ElementsAre("thaw 12"));
}

// To pause them would give nobody any space, whoever has filled the disk.
TEST(DiskTenants, WhoIsQuietIsNotPausedForSpace) {
  OnADisk disk;
  static_cast<void>(disk.is_free(1000, 0));
  for (unsigned id = 1; id <= 2; ++id) disk.writer_of(kAlice, id, 20);
  for (unsigned id = 11; id <= 13; ++id) disk.writer_of(kBob, id, 5);
  EXPECT_EQ(disk.rules(0).size(), 5u);
  for (const double t : {1.0, 30.0, 60.0}) {
    for (unsigned id = 1; id <= 2; ++id) disk.has_written(id, 20, t);
    for (unsigned id = 11; id <= 13; ++id) disk.has_written(id, 5, t);
    static_cast<void>(disk.is_free(t < 60 ? 945 : 10, t));
    EXPECT_THAT(disk.rules(t), IsEmpty()) << t;
  }
}

TEST(DiskTenants, PausedJobsOfOneHoldUpNoOtherWhoIsWithinHisPart) {
  OnADisk disk;
  static_cast<void>(disk.is_free(1000, 0));
  disk.writer_of(kAlice, 1, 400);
  disk.writer_of(kAlice, 2, 400);
  static_cast<void>(disk.rules(0));
  for (unsigned id = 1; id <= 2; ++id) disk.has_written(id, 10, 70);
  static_cast<void>(disk.is_free(90, 70));
  EXPECT_THAT(disk.rules(70), ElementsAre("freeze 2"));
  static_cast<void>(disk.is_free(480, 71));
  disk.has_written(1, 100, 71);
  disk.writer_of(kBob, 11, 30, 71);
  disk.writer_of(kAlice, 3, 30, 71);
  EXPECT_THAT(disk.rules(71), ElementsAre("admit 11"));
}

// The space that she has taken is not given back; his first job starts all the same, if there is
// any for it.
TEST(DiskTenants, WhoHasWaitedForAMinuteGetsHisFirstJobAsFarAsThereIsSpaceAtAll) {
  OnADisk disk = taken_by_hers(1000, 920);
  disk.writer_of(kBob, 11, 70, 1);
  disk.writer_of(kBob, 12, 70, 1);
  disk.writer_of(kCarol, 21, 500, 1);
  EXPECT_THAT(disk.rules(1), IsEmpty());
  disk.has_written(1, 921, 60);
  EXPECT_THAT(disk.rules(60), IsEmpty());
  disk.has_written(1, 922, 61);
  EXPECT_THAT(disk.rules(61), ElementsAre("admit 11"));
  EXPECT_THAT(disk.reasons.front(), HasSubstr("though the space is short"));
  EXPECT_THAT(disk.rules(62), IsEmpty());
  // Even his second one, as long as both fit.
  disk.has_written(11, 20, 63);
  static_cast<void>(disk.is_free(150, 63));
  EXPECT_THAT(disk.rules(63), ElementsAre("admit 12"));
}

// It would otherwise wait for as long as anybody writes.
TEST(DiskTenants, WhoHasWaitedForHalfAnHourGetsHisFirstJobWhateverItMayWrite) {
  OnADisk disk = taken_by_hers(1000, 700);
  disk.writer_of(kBob, 11, 500, 1);
  disk.writer_of(kBob, 12, 500, 1);
  EXPECT_THAT(disk.rules(1), IsEmpty());
  disk.has_written(1, 701, 1800);
  EXPECT_THAT(disk.rules(1800), IsEmpty());
  disk.has_written(1, 702, 1801);
  EXPECT_THAT(disk.rules(1801), ElementsAre("admit 11"));
  EXPECT_THAT(disk.reasons.front(), HasSubstr("though the space is short"));
  // Not his second one beside it.
  disk.has_written(1, 703, 1802);
  EXPECT_THAT(disk.rules(1802), IsEmpty());
}

// It has said that it writes next to nothing; where there is one user, it may write on.
TEST(DiskTenants, AJobThatWritesMoreThanItSaidGivesWayToOtherUsers) {
  OnADisk disk;
  static_cast<void>(disk.is_free(2000, 0));
  disk.hinted(1, 1, kAlice);
  static_cast<void>(disk.rules(0));
  disk.has_written(1, 1800, 1);
  static_cast<void>(disk.is_free(200, 1));
  disk.writer_of(kBob, 11, 50, 1);
  EXPECT_THAT(disk.rules(1), ElementsAre("admit 11"));
  disk.has_written(11, 10, 2);
  disk.has_written(1, 1900, 2);
  static_cast<void>(disk.is_free(90, 2));
  EXPECT_THAT(disk.rules(2), ElementsAre("freeze 1"));
}

// A file that is written again and again takes its space once.
TEST(DiskTenants, APartIsOfNoMoreThanTheFileSystemHolds) {
  constexpr double kMib = 1048576;
  DiskFloor disk{.path = "/data", .floor = mib(100)};
  const auto part_of_two = [&disk] {
    DiskTenancy tenancy(disk, 600 * kMib, 2);
    tenancy.add(kAlice, {.written = 5000 * kMib});
    return tenancy.part() / kMib;
  };
  EXPECT_EQ(part_of_two(), 2750) << "of what is free and what was written";
  disk.size = mib(1100);
  EXPECT_EQ(part_of_two(), 500);
  disk.size = mib(300);  // before it was made larger
  EXPECT_EQ(part_of_two(), 250) << "of what is free at least";
}

TEST(DiskTenants, NewsTellsWhoseJobHasWrittenMost) {
  OnADisk disk;
  static_cast<void>(disk.is_free(1000, 0));
  disk.writer_of(kAlice, 1, 200);
  disk.writer_of(kBob, 11, 300);
  static_cast<void>(disk.rules(0));
  disk.has_written(1, 100, 1);
  disk.has_written(11, 200, 1);
  const auto news = disk.is_free(80, 1);
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news.front().writer, JobId{11});
  EXPECT_EQ(news.front().tenant, kBob);
}

}  // namespace
}  // namespace plimsoll::policy

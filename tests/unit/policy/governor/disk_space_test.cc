#include "policy/governor/disk_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "disk_story.h"

namespace plimsoll::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(DiskSpace, WhoWouldTakeMoreThanIsFreeAboveTheFloorWaits) {
  OnADisk disk;
  EXPECT_THAT(disk.is_free(1000, 0), IsEmpty());
  for (unsigned id = 1; id <= 4; ++id) disk.writer(id, 300);
  EXPECT_THAT(disk.rules(0), ElementsAre("admit 1", "admit 2", "admit 3"));
  EXPECT_EQ(disk.cause(), HoldCause::space);
  EXPECT_THAT(disk.why(), HasSubstr("it may write 300 MiB, the running jobs 900 MiB more"));
  EXPECT_THAT(disk.why(), HasSubstr("on the file system of /data, of which 100 MiB are to stay"));
}

TEST(DiskSpace, WhatIsWrittenAlreadyIsNotPromisedAgain) {
  OnADisk disk;
  static_cast<void>(disk.is_free(1000, 0));
  disk.writer(1, 600);
  EXPECT_THAT(disk.rules(0), ElementsAre("admit 1"));
  disk.has_written(1, 600, 1);
  static_cast<void>(disk.is_free(400, 1));
  disk.writer(2, 300);
  EXPECT_THAT(disk.rules(1), ElementsAre("admit 2"));
}

TEST(DiskSpace, AJobStartsOnceAnotherHasRemovedItsFiles) {
  OnADisk disk;
  static_cast<void>(disk.is_free(500, 0));
  disk.writer(1, 300);
  disk.writer(2, 300);
  EXPECT_THAT(disk.rules(0), ElementsAre("admit 1"));
  disk.has_written(1, 300, 1);
  static_cast<void>(disk.is_free(200, 1));
  EXPECT_THAT(disk.rules(1), IsEmpty());
  disk.ends(1, 2);
  static_cast<void>(disk.is_free(500, 2.1));
  EXPECT_THAT(disk.rules(2.1), ElementsAre("admit 2"));
}

TEST(DiskSpace, AJobAloneAlwaysRunsAndTheReasonSaysSo) {
  OnADisk disk;
  static_cast<void>(disk.is_free(150, 0));
  disk.writer(1, 5000);
  disk.writer(2, 300);
  EXPECT_THAT(disk.rules(0), ElementsAre("admit 1"));
  EXPECT_THAT(disk.reasons.front(), HasSubstr("though the space is short: it may write 4.88 GiB"));
}

// Nothing of a server's that runs for days will ever be free.
TEST(DiskSpace, BesideOnesThatWriteNothingAJobStartsAsIfItWereAlone) {
  OnADisk disk;
  static_cast<void>(disk.is_free(300, 0));
  disk.writer(1, 0);
  disk.writer(2, 500);
  disk.writer(3, 500);
  EXPECT_THAT(disk.rules(0), ElementsAre("admit 1", "admit 2"));
  EXPECT_EQ(disk.cause(), HoldCause::space);
}

TEST(DiskSpace, WhoWritesNextToNothingNeverWaitsForIt) {
  OnADisk disk;
  static_cast<void>(disk.is_free(50, 0));
  disk.writer(1, 5000);
  disk.writer(2, 0.5);
  EXPECT_THAT(disk.rules(0), ElementsAre("admit 1", "admit 2"));
}

// Small writers that come again and again would keep the large one waiting for ever.
TEST(DiskSpace, NoOtherWriterOvertakesOneThatWaits) {
  OnADisk disk;
  static_cast<void>(disk.is_free(1000, 0));
  disk.writer(1, 700);
  EXPECT_THAT(disk.rules(0), ElementsAre("admit 1"));
  disk.writer(2, 400);
  disk.writer(3, 100);
  disk.writer(4, 0);
  EXPECT_THAT(disk.rules(0.1), ElementsAre("admit 4"));
  EXPECT_EQ(disk.cause(), HoldCause::space);
}

// However many cores it would fill.
TEST(DiskSpace, NoWideWriterOvertakesOneThatWaits) {
  OnADisk disk;
  static_cast<void>(disk.is_free(1000, 0));
  disk.writer(1, 700, 0.01);
  EXPECT_THAT(disk.rules(0), ElementsAre("admit 1"));
  disk.writer(2, 400, 0.01);
  for (unsigned id = 3; id <= 6; ++id) {
    disk.writer(id, 100, 20);
    EXPECT_THAT(disk.rules(0.1 * id), IsEmpty()) << id;
  }
  EXPECT_EQ(disk.cause(), HoldCause::space);
}

TEST(DiskSpace, OfUnknownJobsAFewStartUntilOneHasShownWhatItWrites) {
  OnADisk disk;
  static_cast<void>(disk.is_free(1000, 0));
  for (unsigned id = 1; id <= 12; ++id) disk.stranger(id, 1);
  std::vector<std::string> admitted = disk.rules(0);
  // They have shown their memory, so that this is no reason to wait any more.
  for (const double t : {0.3, 0.6, 0.9}) {
    for (unsigned id = 1; id <= admitted.size(); ++id) disk.has_written(id, 20, t);
    disk.samples(t);
    for (const std::string& word : disk.rules(t)) admitted.push_back(word);
  }
  EXPECT_EQ(admitted.size(), kUnshownMost);
  EXPECT_EQ(disk.cause(), HoldCause::space);
  EXPECT_THAT(disk.why(), HasSubstr("to see how much the jobs just started write"));
  // 100 MiB each after two seconds: as much again, and the next ones twice that. 500 are left.
  static_cast<void>(disk.is_free(600, 2.1));
  for (unsigned id = 1; id <= 4; ++id) disk.has_written(id, 100, 2.1);
  disk.samples(2.1);
  EXPECT_THAT(disk.rules(2.1), IsEmpty());
  EXPECT_THAT(disk.why(), HasSubstr("it may write 200 MiB, the running jobs 400 MiB more"));
}

// Nothing is known of them: 300 MiB each within a second. While they write, as much again is
// expected of each; of one that has been quiet for as long, nothing more.
TEST(DiskSpace, WhoHasBeenQuietForAsLongAsItWroteIsTakenToBeDone) {
  OnADisk disk;
  disk.two_strangers_run();
  disk.stranger(3, 1);
  const auto look = [&disk](double t, double free) {
    for (unsigned id = 1; id <= 2; ++id) disk.has_written(id, 300, t);
    static_cast<void>(disk.is_free(free, t));
    disk.samples(t);
    return disk.rules(t);
  };
  EXPECT_THAT(look(1, 390), IsEmpty());
  EXPECT_THAT(disk.why(), HasSubstr("the running jobs may write 600 MiB more"));
  EXPECT_THAT(look(1.5, 390), IsEmpty());
  EXPECT_THAT(disk.why(), HasSubstr("the running jobs may write 300 MiB more"));
  // As much as each of them has written is expected of the next one.
  EXPECT_THAT(look(2, 390), IsEmpty());
  EXPECT_THAT(disk.why(), HasSubstr("it may write 300 MiB, and 390 MiB are free"));
  EXPECT_THAT(look(2.1, 400), ElementsAre("admit 3"));
}

TEST(DiskSpace, WhoWritesAgainIsTakenToGoOnAgain) {
  OnADisk disk;
  disk.two_strangers_run();
  for (const double t : {1.0, 3.0}) {
    for (unsigned id = 1; id <= 2; ++id) disk.has_written(id, 200, t);
  }
  for (unsigned id = 1; id <= 2; ++id) disk.has_written(id, 250, 3.5);
  disk.stranger(3, 1);
  static_cast<void>(disk.is_free(500, 3.5));
  disk.samples(3.5);
  EXPECT_THAT(disk.rules(3.5), IsEmpty());
  EXPECT_THAT(disk.why(), HasSubstr("the running jobs 500 MiB more"));
}

// 300 MiB are expected, 100 more are in doubt: it has written 200 and is quiet.
TEST(DiskSpace, WhatIsExpectedOfAQuietOneStaysOnlyTheDoubtPasses) {
  OnADisk disk;
  static_cast<void>(disk.is_free(700, 0));
  Estimate estimate = flat({.mib = 1, .seconds = 1000});
  estimate.written = Belief{300.0 * (1 << 20), 100.0 * (1 << 20)};
  for (unsigned id = 1; id <= 2; ++id) disk.enters_with(id, estimate);
  EXPECT_THAT(disk.rules(0), ElementsAre("admit 1"));
  disk.has_written(1, 200, 1);
  disk.has_written(1, 200, 2);
  static_cast<void>(disk.is_free(500, 2));
  EXPECT_THAT(disk.rules(2), IsEmpty());
  EXPECT_THAT(disk.why(), HasSubstr("the running jobs 100 MiB more"));
}

TEST(DiskSpace, WriterThatStartedLastIsPausedSoThatOthersEnd) {
  OnADisk disk;
  static_cast<void>(disk.is_free(1300, 0));
  for (unsigned id = 1; id <= 3; ++id) disk.writer(id, 400);
  EXPECT_THAT(disk.rules(0), ElementsAre("admit 1", "admit 2", "admit 3"));
  // Somebody else has taken most of it.
  for (unsigned id = 1; id <= 3; ++id) disk.has_written(id, 10, 1);
  static_cast<void>(disk.is_free(90, 1));
  EXPECT_THAT(disk.rules(1), ElementsAre("freeze 2", "freeze 3"));
  EXPECT_THAT(disk.reasons.front(),
              HasSubstr("only 90.0 MiB are free on the file system of /data"));
  EXPECT_EQ(disk.job(3).member->held_for, Shortage::space);
  // Memory has room all the time; that is not what they wait for.
  disk.has_written(1, 300, 5);
  static_cast<void>(disk.is_free(120, 5));
  disk.samples(5);
  EXPECT_THAT(disk.rules(5), IsEmpty());
  // Nor does anybody new go before them.
  disk.writer(4, 5);
  EXPECT_THAT(disk.rules(5.1), IsEmpty());
  disk.ends(1, 6);
  static_cast<void>(disk.is_free(1000, 6.1));
  EXPECT_THAT(disk.rules(6.1), ElementsAre("thaw 2", "thaw 3", "admit 4"));
}

TEST(DiskSpace, OnePausedGoesOnWhenNobodyElseWrites) {
  OnADisk disk;
  static_cast<void>(disk.is_free(1000, 0));
  disk.writer(1, 400);
  disk.writer(2, 400);
  EXPECT_THAT(disk.rules(0), ElementsAre("admit 1", "admit 2"));
  for (unsigned id = 1; id <= 2; ++id) disk.has_written(id, 10, 1);
  static_cast<void>(disk.is_free(50, 1));
  EXPECT_THAT(disk.rules(1), ElementsAre("freeze 2"));
  disk.ends(1, 3);
  static_cast<void>(disk.is_free(60, 3.1));
  EXPECT_THAT(disk.rules(3.1), ElementsAre("thaw 2"));
}

TEST(DiskSpace, SpaceThatFallsFastIsSeenComing) {
  OnADisk disk;
  disk.two_strangers_run();
  static_cast<void>(disk.is_free(500, 0.1));
  for (unsigned id = 1; id <= 2; ++id) disk.has_written(id, 250, 0.1);
  EXPECT_THAT(disk.rules(0.1), ElementsAre("freeze 2"));
  EXPECT_THAT(disk.reasons.front(),
              HasSubstr("500 MiB are free on the file system of /data and, at this rate, soon less "
                        "than the floor of 100 MiB; jobs that began to write before it go first"));
}

// What one write takes between two looks that are close together says nothing of the next second.
TEST(DiskSpace, AFallIsThatOfSomeTime) {
  OnADisk disk;
  disk.two_strangers_run();
  static_cast<void>(disk.is_free(960, 0.01));
  for (unsigned id = 1; id <= 2; ++id) disk.has_written(id, 500, 0.01);
  EXPECT_THAT(disk.rules(0.01), IsEmpty());
  static_cast<void>(disk.is_free(940, 0.06));
  EXPECT_THAT(disk.rules(0.06), IsEmpty()) << "1 GB a second";
  static_cast<void>(disk.is_free(500, 0.16));
  EXPECT_THAT(disk.rules(0.16), ElementsAre("freeze 2"));
}

TEST(DiskSpace, WhatFallsAfterARiseIsSeenComing) {
  OnADisk disk;
  disk.two_strangers_run();
  static_cast<void>(disk.is_free(1900, 0.01));  // somebody else has removed a file
  static_cast<void>(disk.is_free(850, 0.11));
  for (unsigned id = 1; id <= 2; ++id) disk.has_written(id, 525, 0.11);
  EXPECT_THAT(disk.rules(0.11), ElementsAre("freeze 2"));
}

TEST(DiskSpace, NothingIsPausedWhereNothingMayBe) {
  OnADisk disk(DiskRule::hold, false);
  static_cast<void>(disk.is_free(1000, 0));
  disk.writer(1, 400);
  disk.writer(2, 400);
  EXPECT_THAT(disk.rules(0), ElementsAre("admit 1", "admit 2"));
  for (unsigned id = 1; id <= 2; ++id) disk.has_written(id, 10, 1);
  static_cast<void>(disk.is_free(50, 1));
  EXPECT_THAT(disk.rules(1), IsEmpty());
}

TEST(DiskSpace, AFloorThatIsPassedIsToldOnceWithTheLargestWriter) {
  OnADisk disk;
  static_cast<void>(disk.is_free(1000, 0));
  disk.writer(1, 400);
  disk.writer(2, 400);
  static_cast<void>(disk.rules(0));
  disk.has_written(1, 100, 1);
  disk.has_written(2, 200, 1);
  const auto news = disk.is_free(80, 1);
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news.front().writer, JobId{2});
  EXPECT_EQ(news.front().reason,
            "only 80.0 MiB are free on the file system of /data, 20.0 MiB less than the floor of "
            "100 MiB; of "
            "the running jobs, job 2 has written most: 200 MiB");
  EXPECT_THAT(disk.is_free(70, 2), IsEmpty());
  // Above it by little is no end of it.
  EXPECT_THAT(disk.is_free(101, 3), IsEmpty());
  EXPECT_THAT(disk.is_free(99, 4), IsEmpty());
  EXPECT_THAT(disk.is_free(200, 5), IsEmpty());
  EXPECT_EQ(disk.is_free(99, 6).size(), 1u);
}

// A process that has just ended is in no sum yet.
TEST(DiskSpace, WhereNobodyIsKnownToHaveWrittenTheNextLookTells) {
  OnADisk disk;
  static_cast<void>(disk.is_free(1000, 0));
  disk.writer(1, 400);
  static_cast<void>(disk.rules(0));
  EXPECT_THAT(disk.is_free(80, 1), IsEmpty());
  disk.has_written(1, 200, 1.1);
  auto news = disk.is_free(70, 1.2);
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news.front().writer, JobId{1});
  EXPECT_THAT(disk.is_free(200, 2), IsEmpty());
  // Somebody else may have.
  disk.ends(1, 3);
  disk.writer(2, 400);
  static_cast<void>(disk.rules(3));
  EXPECT_THAT(disk.is_free(80, 4), IsEmpty());
  news = disk.is_free(80, 4.1);
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news.front().writer, std::nullopt);
  EXPECT_THAT(disk.is_free(80, 4.2), IsEmpty());
  // Where nobody runs, nobody has.
  disk.ends(2, 5);
  EXPECT_THAT(disk.is_free(200, 6), IsEmpty());
  EXPECT_EQ(disk.is_free(80, 7).size(), 1u);
}

TEST(DiskSpace, WhereItIsOnlyToldNobodyWaitsButForHisOwnWord) {
  OnADisk disk(DiskRule::tell);
  EXPECT_THAT(disk.is_free(50, 0), IsEmpty()) << "it was full before";
  disk.writer(1, 400);
  disk.writer(2, 400);
  disk.hinted(3, 200);
  EXPECT_THAT(disk.rules(0), ElementsAre("admit 1", "admit 2"));
  EXPECT_EQ(disk.cause(), HoldCause::space);
  for (unsigned id = 1; id <= 2; ++id) disk.has_written(id, 11, 1);
  EXPECT_THAT(disk.is_free(40, 1), IsEmpty());
  EXPECT_THAT(disk.rules(1), IsEmpty()) << "nobody is paused";
  static_cast<void>(disk.is_free(500, 2));
  EXPECT_THAT(disk.rules(2), ElementsAre("admit 3"));
  EXPECT_EQ(disk.is_free(40, 3).size(), 1u);
}

TEST(DiskSpace, OneOfWhichNothingIsKnownHoldsNobody) {
  OnADisk disk;
  static_cast<void>(disk.governor.observe(DiskSample{.free = {std::nullopt}}, at(0)));
  for (unsigned id = 1; id <= 3; ++id) disk.writer(id, 5000);
  EXPECT_THAT(disk.rules(0), ElementsAre("admit 1", "admit 2", "admit 3"));
}

}  // namespace
}  // namespace plimsoll::policy

#include <gtest/gtest.h>

#include "external_jobs_scene.h"

// What external jobs write to file systems.
namespace plimsoll::supervisor {
namespace {

using namespace literals;
using scene::GuestsTest;

// Where disk space is watched.
struct WritingGuestsTest : GuestsTest {
  WritingGuestsTest() : GuestsTest(Writes::measured) {}
};

TEST_F(WritingGuestsTest, WhatIsWrittenAtAPlaceIsSeenAndLearnt) {
  run("a", {.disk_hint = 9_MiB, .place = CgroupPlace{"/g"}});
  EXPECT_EQ(entered.back().disk_hint, 9_MiB);
  has_written = 5_MiB;
  external_jobs.look();
  EXPECT_EQ(samples.back().written, 5_MiB);
  has_written.reset();  // whoever did has ended
  external_jobs.look();
  EXPECT_EQ(samples.back().written, 5_MiB);
  EXPECT_TRUE(external_jobs.leave(client, "a", {.outcome = policy::Outcome::exited}));
  EXPECT_EQ(ends.back().written, 5_MiB);
}

// A group's counts from when it is named, that of a process all that it has ever written.
TEST_F(WritingGuestsTest, WhatWasWrittenBeforeAPlaceWasNamedAgainStillCounts) {
  run("a", {.place = CgroupPlace{"/g"}});
  has_written = 5_MiB;
  external_jobs.look();
  has_written = Bytes{};
  EXPECT_TRUE(external_jobs.watch(client, "a", CgroupPlace{"/g"}));
  has_written = 2_MiB;
  external_jobs.look();
  EXPECT_EQ(samples.back().written, 7_MiB);
  EXPECT_TRUE(external_jobs.watch(client, "a", ProcessPlace{7}));
  external_jobs.look();
  EXPECT_EQ(samples.back().written, 9_MiB);
  EXPECT_TRUE(external_jobs.watch(client, "a", ProcessPlace{7}));
  external_jobs.look();
  EXPECT_EQ(samples.back().written, 9_MiB);
}

// Others would wait for what they are going to show.
TEST_F(WritingGuestsTest, WhatCanNotBeReadCountsAsNothingAndTeachesNothing) {
  run("a", {.place = CgroupPlace{"/g"}});
  external_jobs.look();
  EXPECT_EQ(samples.back().written, Bytes{});
  EXPECT_TRUE(external_jobs.leave(client, "a", {.outcome = policy::Outcome::exited}));
  EXPECT_EQ(ends.back().written, std::nullopt);
}

TEST_F(WritingGuestsTest, OfOneWithoutAPlaceNothingIsSeen) {
  run("a");
  EXPECT_TRUE(external_jobs.observe(client, "a", {.used = 10_MiB}));
  EXPECT_EQ(samples.back().written, std::nullopt);
}

TEST_F(GuestsTest, WhereNoDiskIsWatchedNobodyLooks) {
  run("a", {.place = CgroupPlace{"/g"}});
  has_written = 5_MiB;
  external_jobs.look();
  EXPECT_EQ(samples.back().written, std::nullopt);
}

}  // namespace
}  // namespace plimsoll::supervisor

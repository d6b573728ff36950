#include "policy/governor/io_crowding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "disk_world.h"

namespace plimsoll::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using World = DiskWorld;

TEST(IoCrowding, KnownReadersOfASlowDiskAreHeldWhileOthersCompute) {
  World world({});
  world.readers_come(6, 1000);
  world.computers_come(6, 100);
  world.decide();
  EXPECT_EQ(world.reading(), 1U);
  ASSERT_TRUE(world.governor.holding());
  EXPECT_EQ(world.governor.holding()->cause, HoldCause::disk);
  EXPECT_THAT(world.governor.holding()->reason,
              HasSubstr("how busy the job just started keeps the disk: 1 job bound"));
  EXPECT_GE(world.going.size(), 3U);  // others compute
  world.until(18);
  EXPECT_EQ(world.most, 2U);  // the second has shown that it is of no use
  EXPECT_THAT(world.governor.holding()->reason,
              HasSubstr("2 jobs bound by I/O moved 47.7 MiB a second together, and 1 job alone "
                        "moved 47.7 MiB"));
}

TEST(IoCrowding, ADiskThatBearsAllIsKeptBusyByAll) {
  World world({.alone = 500 * kMega, .most = 10'000 * kMega});
  world.readers_come(8, 100'000);
  world.computers_come(6, 100);
  world.decide();
  EXPECT_EQ(world.reading(), 1U);
  world.until(10);
  EXPECT_EQ(world.reading(), 8U);
}

TEST(IoCrowding, AsManyReadAsTheDiskBears) {
  World world({.alone = 100 * kMega, .most = 400 * kMega});
  world.readers_come(20, 100'000);
  world.computers_come(6, 1000);
  world.decide();
  world.until(28);
  EXPECT_GE(world.most, 4U);
  EXPECT_LE(world.most, 8U);
}

// Nothing else is there to do.
TEST(IoCrowding, WhereNobodyComputesNobodyIsHeld) {
  World world({});
  world.readers_come(6, 1000);
  world.decide();
  EXPECT_EQ(world.reading(), 6U);
}

TEST(IoCrowding, SomeoneAlwaysReads) {
  World world({});
  world.readers_come(6, 1000);
  world.computers_come(6, 1000);
  world.decide();
  world.until(15);
  ASSERT_EQ(world.reading(), 2U);
  world.left[1] = world.left[2] = 0.001;
  world.step();
  EXPECT_EQ(world.reading(), 1U);  // the next, at once
}

TEST(IoCrowding, FreeDisksAreGivenToOneMoreAtATime) {
  World world({});
  world.readers_come(6, 10'000);
  world.computers_come(6, 1000);
  world.decide();
  world.until(15);
  ASSERT_EQ(world.reading(), 2U);
  world.busy = world.idle = 0.45;  // between the marks
  world.until(20);
  EXPECT_EQ(world.reading(), 2U);
  world.dozes = true;
  world.idle = 0.05;
  world.until(23);
  EXPECT_EQ(world.going.count(3), 1U);
  EXPECT_EQ(world.going.count(4), 0U);
  world.dozes = false;
  world.busy = 0.95;
  world.until(25);  // the disk is busy again
  const std::size_t reading = world.reading();
  EXPECT_LE(reading, 4U);
  world.until(31);
  EXPECT_EQ(world.reading(), reading);
}

TEST(IoCrowding, WhatWasMeasuredIsForgottenAndTriedAgain) {
  World world({});
  world.readers_come(6, 100'000);
  world.computers_come(6, 1000);
  world.decide();
  world.until(20);
  ASSERT_EQ(world.reading(), 2U);
  world.device.most = 10'000 * kMega;  // another disk, say
  world.until(60);
  EXPECT_EQ(world.reading(), 6U);
}

TEST(IoCrowding, WhoIsNotKnownForItStarts) {
  World world({});
  world.readers_come(3, 10'000);
  world.computers_come(3, 1000);
  world.decide();
  world.until(15);
  ASSERT_EQ(world.reading(), 2U);
  world.comes(50, kMega, std::nullopt);
  // Who waits behind others and moves little does not read much.
  world.comes(51, kMega, IoNeed{.waited = 0.9, .bytes_per_second = 0.2 * kMega});
  world.comes(52, kMega, IoNeed{.waited = 0.1, .bytes_per_second = 50 * kMega});
  world.decide();
  EXPECT_THAT(world.admitted, ElementsAre(50, 51, 52));
}

// What running jobs of its kind show is known of one of which no history tells.
TEST(IoCrowding, WhatItsKindShowsIsKnownOfAJob) {
  World world({});
  world.readers_come(3, 10'000);
  world.computers_come(3, 1000);
  world.decide();
  world.until(15);
  ASSERT_EQ(world.reading(), 2U);
  world.governor.expect(Kind{60}, flat({.mib = 10, .seconds = 60, .cores = 0.05}));
  world.left[60] = 10'000 * kMega;
  world.enters({.job = JobId{60}, .kind = Kind{60}}, world.t);
  world.decide();
  EXPECT_THAT(world.admitted, ElementsAre(60));
  world.until(20);
  world.enters({.job = JobId{61}, .kind = Kind{60}}, world.t);
  world.decide();
  EXPECT_THAT(world.admitted, IsEmpty());
  EXPECT_EQ(world.governor.holding()->cause, HoldCause::disk);
}

TEST(IoCrowding, WhereNothingIsToldNobodyIsHeld) {
  World world({});
  world.is_told = false;
  world.readers_come(6, 1000);
  world.computers_come(6, 1000);
  world.decide();
  world.until(1);
  EXPECT_EQ(world.reading(), 6U);
}

TEST(IoCrowding, WhatIsNotToldAnyMoreIsForgotten) {
  World world({});
  world.readers_come(6, 10'000);
  world.computers_come(6, 1000);
  world.decide();
  world.until(15);
  ASSERT_EQ(world.reading(), 2U);
  world.is_told = false;
  world.until(17);
  EXPECT_EQ(world.reading(), 6U);
}

TEST(IoCrowding, ShortReadersDoNotWaitToBeShown) {
  World world({});
  world.seconds = 5;
  world.readers_come(6, 10);
  world.computers_come(6, 1000);
  world.decide();
  EXPECT_EQ(world.reading(), 6U);
}

// What would be held with it computes.
TEST(IoCrowding, InTheOrderOfInputNobodyIsHeld) {
  GovernorConfig config = World::config_of();
  config.order = StartOrder::input;
  World world({}, config);
  world.readers_come(6, 1000);
  world.computers_come(2, 1000);
  world.decide();
  world.until(1);
  EXPECT_EQ(world.going.size(), 8U);
}

TEST(IoCrowding, AUserDoesNotWaitForTheReadersOfAnother) {
  World world({});
  for (unsigned id = 1; id <= 6; ++id) world.comes(id, 10'000 * kMega, World::kReads, Tenant{1});
  for (unsigned id = 101; id <= 106; ++id) {
    world.comes(id, 1000, World::kComputesOnly, Tenant{1});
  }
  world.decide();
  world.until(15);
  ASSERT_EQ(world.reading(), 2U);
  world.comes(50, 10'000 * kMega, World::kReads, Tenant{2});
  world.comes(51, 10'000 * kMega, World::kReads, Tenant{2});
  world.decide();
  EXPECT_THAT(world.admitted, ElementsAre(50));
}

// What is known of the disk does not count then, either.
TEST(IoCrowding, WhereCoresWouldBeIdleNobodyIsHeld) {
  World world({});
  world.readers_come(6, 10'000);
  world.computers_come(2, 20);
  world.decide();
  world.until(15);
  ASSERT_EQ(world.reading(), 2U);
  ASSERT_EQ(world.governor.holding()->cause, HoldCause::disk);
  world.until(25);
  EXPECT_EQ(world.reading(), 6U);
}

TEST(IoCrowding, WhereCoresAreSeenIdleNobodyIsHeld) {
  World world({});
  world.readers_come(6, 10'000);
  world.computers_come(6, 1000);
  world.decide();
  world.until(15);
  ASSERT_EQ(world.reading(), 2U);
  world.cores_busy = 0.5;  // who was believed to compute waits for something else
  world.until(25);
  EXPECT_EQ(world.reading(), 6U);
}

// Who would compute if there were memory for it keeps no core at work.
TEST(IoCrowding, WhoDoesNotFitDoesNotComputeInsteadOfReaders) {
  World world({});
  world.readers_come(6, 10'000);
  for (unsigned id = 200; id < 203; ++id) {
    world.governor.expect(Kind{id}, flat({.mib = 99'990, .seconds = 20}));
    world.left[id] = 100;
    world.enters({.job = JobId{id}, .kind = Kind{id}});
  }
  world.decide();
  EXPECT_EQ(world.reading(), 6U);
}

TEST(IoCrowding, ManyWhoAreHeldHideNobodyBehindThem) {
  World world({});
  world.readers_come(90, 10'000);
  world.computers_come(2, 100);
  world.decide();
  EXPECT_EQ(world.reading(), 1U);
  EXPECT_EQ(world.going.size(), 3U);
}

}  // namespace
}  // namespace plimsoll::policy

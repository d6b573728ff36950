#include <gtest/gtest.h>

#include "disk_world.h"

// What holding jobs for the disk costs, and what it gains.
namespace plimsoll::policy {
namespace {

// How much longer all take than where nobody is held.
double slower_by_holding(const Disk& device, unsigned readers, unsigned computers,
                         double cpu_seconds) {
  double times[2] = {};
  for (const bool is_told : {false, true}) {
    DiskWorld world(device);
    world.is_told = is_told;
    world.step();
    world.readers_come(readers, 200);
    world.computers_come(computers, cpu_seconds);
    times[is_told ? 1 : 0] = world.finish();
  }
  return times[1] / times[0];
}

TEST(IoCrowding, HoldingMakesNobodyLate) {
  EXPECT_LE(slower_by_holding({}, 6, 6, 8), 1.02);    // as long as the disk takes
  EXPECT_LE(slower_by_holding({}, 6, 6, 40), 1.02);   // the cores take longer
  EXPECT_LE(slower_by_holding({}, 6, 0, 0), 1.02);    // nothing else to do
  EXPECT_LE(slower_by_holding({}, 12, 2, 20), 1.02);  // not enough else
  EXPECT_LE(slower_by_holding({.alone = 10 * kMega, .most = 100 * kMega}, 6, 6, 40), 1.02);
}

TEST(IoCrowding, WhereReadersDisturbEachOtherHoldingIsQuicker) {
  EXPECT_LE(slower_by_holding({.seeks = 0.1}, 6, 6, 8), 0.9);
}

}  // namespace
}  // namespace plimsoll::policy

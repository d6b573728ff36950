#include "kernel/counters/group_files.h"

#include <gtest/gtest.h>

namespace plimsoll::counters {
namespace {

using namespace std::chrono_literals;
using namespace plimsoll::literals;

TEST(TakeOff, LeavesTheAttemptsOwnCounts) {
  Sample base;
  base.cpu.usage = 5s;
  base.memory.current = 10_MiB;
  base.memory.peak = 10_MiB;
  base.memory.events.oom_kill = 2;
  base.io.read = 4_MiB;
  base.pids.peak = 3;
  Sample sample = base;
  sample.cpu.usage = 7s;
  sample.cpu.nr_periods = 8;
  sample.memory.peak = 12_MiB;
  sample.memory.events.oom_kill = 3;
  sample.io.read = 5_MiB;
  sample.pids.peak = 9;
  take_off(base, sample);
  EXPECT_EQ(sample.cpu.usage, 2s);
  EXPECT_EQ(sample.cpu.nr_periods, 8u) << "no base: as it is";
  EXPECT_EQ(sample.memory.current, 10_MiB) << "a gauge";
  EXPECT_EQ(sample.memory.peak, 12_MiB) << "was reset";
  EXPECT_EQ(sample.memory.events.oom_kill, 1u);
  EXPECT_EQ(sample.io.read, 1_MiB);
  EXPECT_EQ(sample.pids.peak, 9u) << "above the earlier attempt's: this one's";
}

TEST(TakeOff, AnEarlierHigherPeakOfProcessesSaysNothing) {
  Sample base;
  base.pids.peak = 9;
  base.cpu.usage = 5s;
  Sample sample = base;
  sample.cpu.usage = 4s;
  take_off(base, sample);
  EXPECT_EQ(sample.pids.peak, std::nullopt);
  EXPECT_EQ(sample.cpu.usage, 0s) << "never below zero";
}

}  // namespace
}  // namespace plimsoll::counters

#include "kernel/counters/since.h"

#include <gtest/gtest.h>

namespace plimsoll::counters {
namespace {

using namespace std::chrono_literals;

TEST(Since, WhatOnlyGrowsIsCountedFromTheStart) {
  Sample start;
  start.cpu.usage = 5ms;
  start.cpu.nr_throttled = 2;
  start.memory.stat.pgmajfault = 10;
  start.memory.events.oom_kill = 1;
  start.io.read = Bytes{4096};
  start.pids.events_max = 3;
  start.frozen = 1s;
  Sample now = start;
  now.cpu.usage = 7ms;
  now.cpu.nr_throttled = 3;
  now.memory.stat.pgmajfault = 11;
  now.memory.events.oom_kill = 2;
  now.io.read = Bytes{8192};
  now.pids.events_max = 3;
  now.frozen = 3s;
  const Sample used = since(now, start);
  EXPECT_EQ(used.cpu.usage, 2ms);
  EXPECT_EQ(used.cpu.nr_throttled, 1U);
  EXPECT_EQ(used.memory.stat.pgmajfault, 1U);
  EXPECT_EQ(used.memory.events.oom_kill, 1U);
  EXPECT_EQ(used.io.read, Bytes{4096});
  EXPECT_EQ(used.pids.events_max, 0U);
  EXPECT_EQ(used.frozen, 2s);
}

TEST(Since, MemoryIsWhatHasComeToWhatWasThere) {
  Sample start;
  start.memory.current = Bytes{1000};
  start.memory.used = Bytes{500};
  start.memory.peak = Bytes{9 << 20};
  start.memory.stat.kernel = Bytes{400};
  Sample now = start;
  now.memory.current = Bytes{3000};
  now.memory.used = Bytes{2500};
  now.memory.peak = Bytes{4 << 20};
  now.memory.stat.kernel = Bytes{300};
  now.pids.current = 1;
  const Sample used = since(now, start);
  EXPECT_EQ(used.memory.current, Bytes{2000});
  EXPECT_EQ(used.memory.used, Bytes{2000});
  EXPECT_EQ(used.memory.peak, Bytes{(4 << 20) - 1000}) << "it began from what was charged";
  EXPECT_EQ(used.memory.stat.kernel, Bytes{}) << "some was given back since";
  EXPECT_EQ(used.pids.current, 1U);
  now.memory.peak = start.memory.current;
  EXPECT_EQ(since(now, start).memory.peak, Bytes{256 << 10}) << "as in a new group";
}

TEST(Since, OfPressureTheAveragesReachFurtherBackAndAreAbsent) {
  Sample start, now;
  start.cpu.pressure = Pressure{.some = PressureLine{.avg10 = 1.0, .total = 5ms}};
  now.cpu.pressure = Pressure{.some = PressureLine{.avg10 = 2.0, .avg60 = 1.0, .total = 9ms},
                              .full = PressureLine{.total = 1ms}};
  const Sample used = since(now, start);
  EXPECT_EQ(used.cpu.pressure->some, (PressureLine{.total = 4ms}));
  EXPECT_EQ(used.cpu.pressure->full, (PressureLine{.total = 1ms}));
}

TEST(Since, UserAndSystemTimeAreAbsent) {
  Sample start, now;
  start.cpu.user = start.cpu.system = 1ms;
  now.cpu.user = now.cpu.system = 3ms;
  const Sample used = since(now, start);
  EXPECT_FALSE(used.cpu.user);
  EXPECT_FALSE(used.cpu.system);
}

TEST(Since, AbsentStaysAbsentAndNothingIsLessThanZero) {
  Sample start, now;
  start.cpu.usage = 5ms;
  start.io.written = Bytes{4096};
  now.cpu.nr_periods = 3;
  now.io.written = Bytes{100};
  const Sample used = since(now, start);
  EXPECT_FALSE(used.cpu.usage);
  EXPECT_EQ(used.cpu.nr_periods, 3U) << "no start is known of it";
  EXPECT_EQ(used.io.written, Bytes{});
}

}  // namespace
}  // namespace plimsoll::counters

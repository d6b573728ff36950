#include "kernel/counters/machine_span.h"

#include <gtest/gtest.h>

namespace plimsoll::counters {
namespace {

using namespace std::chrono_literals;
using namespace plimsoll::literals;

SystemSample machine(Duration user, Duration idle, Bytes available, Duration stalled) {
  SystemSample sample;
  sample.cpu = SystemSample::Cpu{};
  sample.cpu->user = user;
  sample.cpu->softirq = 1s;
  sample.cpu->steal = user;
  sample.cpu->guest = user;
  sample.cpu->idle = idle;
  sample.cpu->iowait = 2s;
  sample.meminfo = {{"MemTotal", 8_GiB}, {"MemAvailable", available}};
  sample.memory_pressure = Pressure{.some = PressureLine{.total = stalled}};
  return sample;
}

TEST(MachineSpan, TellsWhatPassedBetweenFirstAndLast) {
  MachineSpan span(machine(10s, 100s, 6_GiB, 5ms));
  span.observe(machine(11s, 102s, 2_GiB, 7ms));
  span.observe(machine(14s, 103s, 5_GiB, 9ms));
  const MachineUsage& usage = span.usage();
  EXPECT_EQ(usage.cpu_usage, 4s);
  EXPECT_EQ(usage.cpu_idle, 3s);
  ASSERT_TRUE(usage.cpu);
  EXPECT_EQ(usage.cpu->user, 4s);
  EXPECT_EQ(usage.cpu->steal, 4s);
  EXPECT_EQ(usage.cpu->idle, 3s);
  EXPECT_EQ(usage.cpu->iowait, 0s);
  EXPECT_EQ(usage.memory_total, 8_GiB);
  EXPECT_EQ(usage.memory_available_min, 2_GiB);
  EXPECT_EQ(usage.memory_stall.some, 4ms);
  EXPECT_EQ(usage.memory_stall.full, std::nullopt);
  EXPECT_EQ(usage.cpu_stall.some, std::nullopt);
}

TEST(MachineSpan, IdleTimeThatFallsIsNoTime) {
  MachineSpan span(machine(10s, 100s, 1_GiB, 0ms));
  span.observe(machine(10s, 99s, 1_GiB, 0ms));
  EXPECT_EQ(span.usage().cpu_idle, 0s);
  ASSERT_TRUE(span.usage().cpu);
  EXPECT_EQ(span.usage().cpu->idle, 0s);
}

TEST(MachineSpan, WhatProcDoesNotTellIsAbsent) {
  const MachineUsage usage = MachineSpan(SystemSample{}).usage();
  EXPECT_FALSE(usage.cpu_usage || usage.cpu || usage.memory_total || usage.memory_available_min);
}

TEST(UseOfOthers, IsWhatIsNotOurs) {
  MachineUsage usage{.cpu_usage = 9s, .cpu_idle = 10s};
  usage.cpu = SystemSample::Cpu{.steal = 1s};
  const auto others = use_of_others(usage, 4s, 5s);
  ASSERT_TRUE(others);
  EXPECT_DOUBLE_EQ(others->cores, 1);
  EXPECT_DOUBLE_EQ(others->of, 4);
  EXPECT_DOUBLE_EQ(use_of_others(usage, 10s, 5s)->cores, 0) << "a tick too much";
}

TEST(UseOfOthers, IsNotToldOfAMoment) {
  const MachineUsage usage{.cpu_usage = 9s, .cpu_idle = 10s};
  EXPECT_FALSE(use_of_others(usage, 4s, 900ms));
  EXPECT_FALSE(use_of_others(MachineUsage{}, 4s, 5s));
}

TEST(BusyTime, DoesNotOverflow) {
  SystemSample::Cpu cpu;
  cpu.user = cpu.system = Duration::max();
  EXPECT_EQ(busy_time(cpu), Duration::max());
}

}  // namespace
}  // namespace plimsoll::counters

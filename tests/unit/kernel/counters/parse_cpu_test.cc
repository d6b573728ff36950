#include "kernel/counters/cpu_files.h"

#include <gtest/gtest.h>

namespace plimsoll::counters {
namespace {

using namespace std::chrono_literals;

TEST(ParseCpuStatV2, ReadsTimesAndThrottling) {
  const CpuUsage cpu = parse_cpu_stat_v2(
      "usage_usec 5013927\nuser_usec 3120004\nsystem_usec 1893923\nnice_usec 0\n"
      "core_sched.force_idle_usec 0\nnr_periods 61\nnr_throttled 17\nthrottled_usec 842311\n"
      "nr_bursts 0\nburst_usec 0\n");
  EXPECT_EQ(cpu.usage, 5'013'927us);
  EXPECT_EQ(cpu.user, 3'120'004us);
  EXPECT_EQ(cpu.system, 1'893'923us);
  EXPECT_EQ(cpu.nr_periods, 61u);
  EXPECT_EQ(cpu.nr_throttled, 17u);
  EXPECT_EQ(cpu.throttled, 842'311us);
}

TEST(ParseCpuStatV2, WithoutTheControllerThrottlingIsAbsentNotZero) {
  const CpuUsage cpu = parse_cpu_stat_v2("usage_usec 10\nuser_usec 0\nsystem_usec 10\n");
  EXPECT_EQ(cpu.user, 0us);
  EXPECT_FALSE(cpu.nr_periods || cpu.nr_throttled || cpu.throttled);
}

TEST(ParseCpuStatV2, SkipsDamagedLines) {
  const CpuUsage cpu =
      parse_cpu_stat_v2("usage_usec\nuser_usec many\n\nsystem_usec 18446744073709551615");
  EXPECT_FALSE(cpu.usage || cpu.user);
  EXPECT_EQ(cpu.system, Duration::max());
}

TEST(ParseCpuStatV1, ThrottledTimeIsInNanoseconds) {
  const CpuUsage cpu = parse_cpu_stat_v1(
      "nr_periods 40\nnr_throttled 3\nthrottled_time 71200345\nnr_bursts 0\nburst_time 0\n");
  EXPECT_EQ(cpu.nr_periods, 40u);
  EXPECT_EQ(cpu.nr_throttled, 3u);
  EXPECT_EQ(cpu.throttled, 71'200'345ns);
  EXPECT_FALSE(cpu.usage);
}

TEST(ParseCpuacct, TicksAndNanoseconds) {
  const CpuUsage cpu = parse_cpuacct_stat("user 250\nsystem 31\n", 100);
  EXPECT_EQ(cpu.user, 2500ms);
  EXPECT_EQ(cpu.system, 310ms);
  EXPECT_FALSE(cpu.usage);
  EXPECT_EQ(parse_cpuacct_stat("user 1024\n", 1024).user, 1024 * (1'000'000'000ns / 1024));

  EXPECT_EQ(parse_cpuacct_usage("2817394455\n"), 2'817'394'455ns);
  for (const auto* bad : {"", "\n", "max", "-1", "1 2"}) {
    EXPECT_EQ(parse_cpuacct_usage(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace plimsoll::counters

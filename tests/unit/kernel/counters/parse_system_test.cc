#include "kernel/counters/system_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::counters {
namespace {

using namespace std::chrono_literals;
using namespace plimsoll::literals;
using testing::ElementsAre;
using testing::Pair;

TEST(ParseProcStat, ReadsTheSumOfAllCpusAndTheCounts) {
  SystemSample sample;
  parse_proc_stat(
      "cpu  301 2 115 9004 12 0 7 3 5 1\ncpu0 999 999 999 999 0 0 0 0 0 0\n"
      "intr 4711 0 9 0\nctxt 81723\nbtime 1700000000\nprocesses 612\nprocs_running 3\n"
      "procs_blocked 1\nsoftirq 9 0 1\n",
      100, sample);
  ASSERT_TRUE(sample.cpu);
  EXPECT_EQ(sample.cpu->user, 3010ms);
  EXPECT_EQ(sample.cpu->nice, 20ms);
  EXPECT_EQ(sample.cpu->system, 1150ms);
  EXPECT_EQ(sample.cpu->idle, 90'040ms);
  EXPECT_EQ(sample.cpu->iowait, 120ms);
  EXPECT_EQ(sample.cpu->irq, 0ms);
  EXPECT_EQ(sample.cpu->softirq, 70ms);
  EXPECT_EQ(sample.cpu->steal, 30ms);
  EXPECT_EQ(sample.cpu->guest, 50ms);
  EXPECT_EQ(sample.cpu->guest_nice, 10ms);
  EXPECT_EQ(sample.context_switches, 81723u);
  EXPECT_EQ(sample.processes_created, 612u);
  EXPECT_EQ(sample.processes_running, 3u);
  EXPECT_EQ(sample.processes_blocked, 1u);
}

TEST(ParseProcStat, OldAndDamagedText) {
  SystemSample old;
  parse_proc_stat("cpu 1 2 3 4", 100, old);
  ASSERT_TRUE(old.cpu);
  EXPECT_EQ(old.cpu->idle, 40ms);
  EXPECT_EQ(old.cpu->iowait, 0ms);
  for (const auto* text : {"", "cpu\n", "cpu 1 2 3\n", "cpu a b c d\n", "cpu0 1 2 3 4\n"}) {
    SystemSample sample;
    parse_proc_stat(text, 100, sample);
    EXPECT_FALSE(sample.cpu || sample.context_switches) << text;
  }
}

TEST(ParseMeminfo, KeepsTheNamedSizesInBytes) {
  EXPECT_THAT(
      parse_meminfo("MemTotal:        2048 kB\nMemAvailable: 1024 kB\n"
                    "Active(anon):     77 kB\nHugePages_Total:       4\nSlab:12 kB"),
      ElementsAre(Pair("MemAvailable", 1_MiB), Pair("MemTotal", 2_MiB), Pair("Slab", 12_KiB)));
}

TEST(ParseMeminfo, SkipsDamagedLines) {
  for (const auto* text :
       {"", "MemTotal", "MemTotal:", "MemTotal: kB", "MemTotal: 5", "MemTotal: 5 MB",
        "MemTotal: -5 kB", "MemTotal: 18446744073709551615 kB", "MemTotal 5 kB"}) {
    EXPECT_TRUE(parse_meminfo(text).empty()) << text;
  }
}

}  // namespace
}  // namespace plimsoll::counters

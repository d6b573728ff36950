#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/buildkit.h"
#include "reports.h"

namespace plimsoll::report {
namespace {

using nlohmann::json;
using namespace testing;

// A job that grows and shrinks: in 100 looks, each second one a quick one, and the totals.
std::vector<counters::Sample> long_job() {
  std::vector<counters::Sample> samples;
  for (int i = 0; i <= 100; ++i) {
    counters::Sample sample;
    sample.t = i * 1s;
    sample.wall = wall_at(1'700'000'000s + sample.t);
    sample.cpu.usage = i * 1s;
    const std::uint64_t size = i == 100 ? 0 : i == 43 || i == 76 ? 900 : 10;
    sample.memory.current = Bytes{size};
    if (i % 2 == 0) {
      sample.memory.used = Bytes{size};
      sample.memory.stat.anon = Bytes{size};
    }
    samples.push_back(sample);
  }
  return samples;
}

json exported(const std::vector<counters::Sample>& samples) {
  counters::JobUsage usage;
  usage.samples = samples;
  usage.totals = samples.back();
  return json::parse(buildkit_usage(usage, std::nullopt).dump());
}

TEST(BuildkitThinning, KeepsTenWithTheTotalsLastAndTheHighestOfFullLooks) {
  const json samples = exported(long_job())["samples"];
  ASSERT_EQ(samples.size(), kBuildkitSamplesMax);
  EXPECT_EQ(samples.front()["cpuStat"]["usageNanos"], 0);
  EXPECT_EQ(samples.back()["cpuStat"]["usageNanos"], 100'000'000'000);
  EXPECT_EQ(samples.back()["memoryStat"]["anon"], 0);
  std::size_t high = 0;
  for (const json& sample : samples) {
    ASSERT_TRUE(sample["memoryStat"].contains("anon"));
    if (sample["memoryStat"]["anon"] == 900) ++high;
  }
  EXPECT_EQ(high, 1U);  // the other one was only looked at quickly
}

TEST(BuildkitThinning, KeepsAShortJobWhole) {
  std::vector<counters::Sample> samples = long_job();
  samples.resize(3);
  EXPECT_EQ(exported(samples)["samples"].size(), 2U);
  samples = {samples.front()};
  EXPECT_EQ(exported(samples)["samples"].size(), 1U);
}

TEST(BuildkitThinning, WhereNoLookIsFullAllCount) {
  std::vector<counters::Sample> samples = long_job();
  samples.resize(8);
  for (auto& sample : samples) sample.memory = {};
  EXPECT_EQ(exported(samples)["samples"].size(), 8U);
}

TEST(BuildkitThinning, WithoutSamplesTheTotalsAreOne) {
  counters::JobUsage usage;
  usage.totals = full_sample();
  const json found = json::parse(buildkit_usage(usage, std::nullopt).dump());
  ASSERT_EQ(found["samples"].size(), 1U);
  EXPECT_EQ(found, exported({full_sample()}));
}

TEST(BuildkitThinning, OfTheMachineKeepsTwentyWithTheLeastMemory) {
  std::vector<counters::SystemSample> samples;
  for (unsigned i = 0; i < 200; ++i) {
    counters::SystemSample sample;
    sample.at = Instant(i * 1s);
    sample.context_switches = i;
    sample.processes_created = sample.processes_running = 1;
    sample.meminfo["MemAvailable"] = i == 111 ? 4_KiB : 4_GiB;
    samples.push_back(sample);
  }
  const auto found = json::parse(buildkit_system_usage(samples).dump());
  ASSERT_EQ(found.size(), kBuildkitSystemSamplesMax);
  EXPECT_EQ(found.front()["procStat"]["contextSwitches"], 0);
  EXPECT_EQ(found.back()["procStat"]["contextSwitches"], 199);
  EXPECT_TRUE(std::ranges::any_of(
      found, [](const json& sample) { return sample["memoryStat"]["available"] == 4; }));
}

}  // namespace
}  // namespace plimsoll::report

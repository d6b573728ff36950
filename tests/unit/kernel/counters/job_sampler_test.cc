#include "kernel/counters/job_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_group.h"

namespace plimsoll::counters {
namespace {

using namespace std::chrono_literals;
using namespace plimsoll::literals;
using cgroup::Controller;
using cgroup::ControllerSet;
using cgroup::Version;

// An attempt in a fake group, which started at 100 s.
struct JobSamplerTest : testing::Test {
  void memory(Bytes current, Bytes anon) const {
    v2.write("memory.current", std::to_string(current.count));
    v2.write("memory.stat", "anon " + std::to_string(anon.count) + "\n");
  }
  // The group's files must exist before it is opened.
  JobSampler make() { return {group, start, network}; }

  FakeDirectory v2{Version::v2};
  cgroup::Group group = group_of(v2.part(ControllerSet(Controller::memory)));
  Network network{"counting is off in this test"};
  Instant start{100s};
};

TEST_F(JobSamplerTest, RemembersWhatTheHighestSampleWasMadeOf) {
  memory(8_MiB, 6_MiB);
  JobSampler sampler = make();
  EXPECT_EQ(sampler.sample(start + 10ms, WallTime(10ms)).t, 10ms);

  memory(64_MiB, 60_MiB);
  sampler.sample(start + 20ms, WallTime(20ms), Level::cheap, SampleState::paused);
  EXPECT_FALSE(sampler.latest().memory.stat.anon) << "a cheap look tells only what is cheap";
  EXPECT_EQ(sampler.latest().state, SampleState::paused);

  memory(65_MiB, 1_MiB);
  sampler.sample(start + 40ms, WallTime(40ms), Level::cheap);

  memory(2_MiB, 1_MiB);
  const JobUsage usage = sampler.finish(start + 90ms, WallTime(90ms));
  EXPECT_EQ(usage.stat_at_peak.anon, 60_MiB);
  EXPECT_EQ(usage.totals.t, 90ms);
  EXPECT_EQ(usage.totals.memory.current, 2_MiB);
  ASSERT_EQ(usage.samples.size(), 4U);
  EXPECT_EQ(usage.samples[2].memory.current, 65_MiB);
  EXPECT_EQ(usage.samples[3].t, 90ms);
  EXPECT_EQ(usage.unavailable.at("network"), "counting is off in this test");
}

TEST_F(JobSamplerTest, IsDueSoonAtFirstAndLaterThen) {
  JobSampler sampler = make();
  EXPECT_EQ(sampler.next_due(), start + 10ms);
  sampler.sample(start + 160ms, WallTime(160ms));
  EXPECT_EQ(sampler.next_due(), start + 320ms);
  sampler.sample(start + 1h, WallTime(1h));
  EXPECT_EQ(sampler.next_due(), start + 1h + 1min);
}

TEST_F(JobSamplerTest, IsDueSeldomAtRest) {
  memory(2_MiB, 1_MiB);
  v2.write("cpu.stat", "usage_usec 900\n");
  JobSampler sampler = make();
  for (const auto age : {1s, 2s}) sampler.sample(start + age, WallTime(age));
  EXPECT_FALSE(sampler.is_at_rest()) << "memory.stat may still be behind";
  EXPECT_EQ(sampler.next_due(), start + 3s);
  sampler.sample(start + 3s, WallTime(3s));
  EXPECT_TRUE(sampler.is_at_rest());
  EXPECT_EQ(sampler.next_due(), start + 5500ms);
  v2.write("cpu.stat", "usage_usec 901\n");
  sampler.sample(start + 5500ms, WallTime(5500ms));
  EXPECT_FALSE(sampler.is_at_rest());
  EXPECT_EQ(sampler.next_due(), start + 6500ms);
}

TEST_F(JobSamplerTest, AnAttemptThatNobodyLookedAtHasItsTotals) {
  memory(2_MiB, 1_MiB);
  v2.write("memory.peak", "5242880\n");
  const JobUsage usage = make().finish(start + 1ms, WallTime(1ms));
  EXPECT_EQ(usage.totals.memory.peak, 5_MiB);
  EXPECT_EQ(usage.stat_at_peak.anon, 1_MiB);
  EXPECT_EQ(usage.samples.size(), 1U);
}

}  // namespace
}  // namespace plimsoll::counters

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <vector>

#include "sim/simulated_executor.h"
#include "stage.h"

// What is seen of the simulated machine: when, how late and how well.
namespace plimsoll::sim {
namespace {

using namespace plimsoll::literals;
using namespace std::chrono_literals;
using std::vector;

constexpr double kMib = 1 << 20;
double mib(Bytes bytes) { return static_cast<double>(bytes.count) / kMib; }
double seconds(Duration span) { return std::chrono::duration<double>(span).count(); }

Duration gap_before(const Script& script, std::size_t look) {
  return script.samples[look].first - script.samples[look - 1].first;
}

// The last look comes when the job has ended, as what it has left.
vector<std::pair<Duration, policy::JobSample>> looks_while_it_ran(const Script& script) {
  return {script.samples.begin(), script.samples.end() - 1};
}

TEST(Looks, TellWhatWasTrueAMomentAgo) {
  const vector<SimJob> jobs{job(1, {{0, 0, 1}, {100, 1000, 1}})};
  SimulatedExecutor executor({.cores = 1, .line = 8_GiB}, jobs);
  Script script(executor);
  script.start(0s, 1);
  executor.run(script);
  ASSERT_GT(script.samples.size(), 100U);
  for (const auto& [time, sample] : looks_while_it_ran(script)) {
    EXPECT_NEAR(mib(sample.used), 10 * seconds(sample.ran), 0.01);
    EXPECT_NEAR(seconds(sample.cpu), seconds(sample.ran), 0.001);
    EXPECT_EQ(sample.cpu_wait, 0s);
    EXPECT_EQ(time, sample.ran + kStartCost + kSampleDelay);
  }
}

TEST(Looks, AreCloseAtFirstAndWhileMemoryMoves) {
  // 50 MiB/s for 5 s, then calm.
  const vector<SimJob> jobs{job(1, {{0, 0, 1}, {5, 250, 1}, {20, 250, 1}})};
  SimulatedExecutor executor({.cores = 1, .line = 8_GiB}, jobs);
  Script script(executor);
  script.start(0s, 1);
  executor.run(script);
  EXPECT_EQ(script.samples.front().second.ran, kFirstSample);
  EXPECT_EQ(gap_before(script, 1), kFirstSample);
  EXPECT_EQ(gap_before(script, 2), 2 * kFirstSample);
  for (std::size_t i = 1; i < script.samples.size() - 1; ++i) {
    const Duration ran = script.samples[i].second.ran;
    if (ran > 500ms && ran < 1500ms) {
      EXPECT_EQ(gap_before(script, i), policy::SampleInterval::kMin) << seconds(ran);
    }
    if (ran > 8s) {
      EXPECT_EQ(gap_before(script, i), policy::SampleInterval::kMax) << seconds(ran);
    }
  }
}

TEST(Looks, AtJobsComeWithThoseAtTheMachineNearTheLine) {
  // Nine tenths of the line, and calm: not only each second.
  const vector<SimJob> jobs{job(1, {{0, 900, 1}, {20, 900, 1}})};
  SimulatedExecutor executor({.cores = 1, .line = 1000_MiB}, jobs);
  Script script(executor);
  script.start(0s, 1);
  executor.run(script);
  for (std::size_t i = 1; i < script.samples.size() - 1; ++i) {
    if (script.samples[i].second.ran > 5s) {
      EXPECT_LT(gap_before(script, i), 2 * kCalmSampleInterval);
    }
  }
}

// 100 MiB for 10 s, then 980 for as long, with a point in so many seconds.
vector<SimJob> step(double gap) {
  vector<CurvePoint> points;
  for (double at = 0; at <= 20; at += gap) {
    points.push_back({.seconds = at, .mib = at < 10 ? 100.0F : 980.0F, .cores = 1});
  }
  return {job(1, std::move(points))};
}

TEST(Looks, AtTheMachineAreCloserTheLessIsLeft) {
  const vector<SimJob> jobs = step(0.05);
  SimulatedExecutor executor({.cores = 1, .line = 1000_MiB}, jobs);
  Script script(executor);
  script.start(0s, 1);
  executor.run(script);
  for (std::size_t i = 1; i < script.machine.size(); ++i) {
    const auto& [time, sample] = script.machine[i];
    const Duration gap = time - script.machine[i - 1].first;
    if (time > 1s && time < 9s) {
      EXPECT_EQ(gap, kMachineGapMax);
    }
    if (time > 12s && time < 19s) {
      EXPECT_LT(gap, 20ms);
    }
  }
}

TEST(Looks, AreNoCloserThanACurveHasAnythingToShow) {
  const vector<SimJob> jobs = step(2);
  SimulatedExecutor executor({.cores = 1, .line = 1000_MiB}, jobs);
  Script script(executor);
  script.start(0s, 1);
  executor.run(script);
  for (std::size_t i = 1; i < script.machine.size(); ++i) {
    const auto& [time, sample] = script.machine[i];
    if (time > 12s && time < 19s) {
      EXPECT_EQ(time - script.machine[i - 1].first, kFinestMax);
    }
  }
}

TEST(Looks, MissABurstBetweenTwoOfThem) {
  // 400 MiB for 0.2 s, while a look comes each second.
  const vector<SimJob> jobs{job(
      1,
      {{0, 10, 1}, {20.2, 10, 1}, {20.21, 400, 1}, {20.4, 400, 1}, {20.41, 10, 1}, {30, 10, 1}})};
  SimulatedExecutor executor({.cores = 1, .line = 8_GiB}, jobs);
  Script script(executor);
  script.start(0s, 1);
  executor.run(script);
  EXPECT_GT(executor.tally().used_peak_mib, 399);
  for (const auto& [time, sample] : script.samples) EXPECT_LT(mib(sample.peak), 11);
}

TEST(Looks, TheLastOneTellsWhatWasUsedInAll) {
  const vector<SimJob> jobs{job(1, {{0, 100, 0.5}, {3.7, 100, 0.5}})};
  SimulatedExecutor executor({.cores = 1, .line = 8_GiB}, jobs);
  Script script(executor);
  script.start(0s, 1);
  executor.run(script);
  const policy::JobSample& last = script.samples.back().second;
  EXPECT_NEAR(seconds(last.ran), 3.7, 0.001);
  EXPECT_NEAR(seconds(last.cpu), 1.85, 0.001);
  EXPECT_EQ(last.used, Bytes{});
  EXPECT_EQ(script.end_of(1).time, script.samples.back().first);
}

TEST(Looks, AJobThatNoneHasMetIsToldByTheKernelsPeak) {
  const vector<SimJob> jobs{job(1, {{0, 0, 1}, {0.004, 50, 1}, {0.008, 20, 1}})};
  SimulatedExecutor executor({.cores = 1, .line = 8_GiB}, jobs);
  Script script(executor);
  script.start(0s, 1);
  executor.run(script);
  ASSERT_EQ(script.samples.size(), 1U);
  EXPECT_NEAR(mib(script.samples.front().second.peak), 50, 0.01);
}

TEST(Looks, OthersAreSeenInTheMachineAndTakeTheirShareOfIt) {
  // One core of two is wanted by somebody else, and two by each of ours.
  const vector<SimJob> jobs{job(1, {{0, 1, 2}, {10, 1, 2}})};
  SimulatedExecutor executor({.cores = 2, .line = 1_GiB, .other_load = 1}, jobs);
  Script script(executor);
  script.start(0s, 1);
  executor.run(script);
  EXPECT_NEAR(seconds(script.end_of(1).time), 20, 0.1);
  const policy::MachineSample& seen = script.machine.back().second;
  EXPECT_NEAR(*seen.cores_busy, 2, 0.01);
  EXPECT_NEAR(*seen.pool_cores, 1, 0.01);
  EXPECT_NEAR(*seen.stall.cpu_some, 1, 0.01);
  // Its two tasks wait for half of their time, each.
  EXPECT_NEAR(seconds(*script.samples.back().second.cpu_wait), 20, 0.1);
}

TEST(Looks, WhoAsksForLittleGetsItBesideOthers) {
  const vector<SimJob> jobs{job(1, {{0, 1, 0.2F}, {10, 1, 0.2F}})};
  SimulatedExecutor executor({.cores = 2, .line = 1_GiB, .other_load = 2}, jobs);
  Script script(executor);
  script.start(0s, 1);
  executor.run(script);
  EXPECT_NEAR(seconds(script.end_of(1).time), 10, 0.1);
  const policy::MachineSample& seen = script.machine.back().second;
  EXPECT_NEAR(*seen.pool_cores, 0.2, 0.01);
  EXPECT_NEAR(*seen.cores_busy, 2, 0.01);
  // Whenever it wants to run somebody waits.
  EXPECT_NEAR(*seen.stall.cpu_some, 0.2, 0.01);
}

TEST(Looks, HalfOfTheCoresIsOursHoweverManyOthersThereAre) {
  const vector<SimJob> jobs{job(1, {{0, 1, 2}, {10, 1, 2}})};
  SimulatedExecutor executor({.cores = 2, .line = 1_GiB, .other_load = 50}, jobs);
  Script script(executor);
  script.start(0s, 1);
  executor.run(script);
  EXPECT_NEAR(seconds(script.end_of(1).time), 20, 0.1);
}

// --- noise

vector<SimJob> sleepers_and_a_grower() {
  vector<SimJob> jobs;
  for (std::size_t i = 1; i <= 20; ++i) jobs.push_back(job(i, {{0, 10, 0.04F}, {5, 10, 0.04F}}));
  jobs.push_back(job(21, {{0, 10, 0.5}, {5, 200, 0.5}}));
  return jobs;
}

struct Seen {
  vector<Duration> ends;
  vector<Bytes> used;
  bool operator==(const Seen&) const = default;
};

Seen seen_with(Noise noise, std::uint64_t seed) {
  const vector<SimJob> jobs = sleepers_and_a_grower();
  SimulatedExecutor executor({.cores = 2, .line = 4_GiB, .noise = noise, .seed = seed}, jobs);
  Script script(executor);
  for (std::size_t i = 1; i <= jobs.size(); ++i) script.start(0s, i);
  executor.run(script);
  Seen seen;
  for (const auto& [number, end] : script.ends) seen.ends.push_back(end.time);
  for (const auto& [time, sample] : script.samples) seen.used.push_back(sample.used);
  return seen;
}

TEST(Noise, IsTheSameWithTheSameSeedAndAnotherWithAnother) {
  EXPECT_EQ(seen_with(Noise::seeded, 7), seen_with(Noise::seeded, 7));
  EXPECT_NE(seen_with(Noise::seeded, 7), seen_with(Noise::seeded, 8));
  EXPECT_EQ(seen_with(Noise::none, 7), seen_with(Noise::none, 8));
}

TEST(Noise, StartsTakeNowLongerAndNowShorter) {
  const Seen seen = seen_with(Noise::seeded, 3);
  const auto [least, most] = std::minmax_element(seen.ends.begin(), seen.ends.end());
  EXPECT_GE(*least, 5s + kStartCost + kEndCost);
  EXPECT_LE(*most, 5s + kStartCostMax + kEndCost + 1ms);
  EXPECT_GT(*most - *least, 2ms);
}

TEST(Noise, MemoryIsReadWithAnError) {
  const vector<SimJob> jobs{job(1, {{0, 100, 0}, {60, 100, 0}})};
  SimulatedExecutor executor({.cores = 1, .line = 8_GiB, .noise = Noise::seeded}, jobs);
  Script script(executor);
  script.start(0s, 1);
  executor.run(script);
  double most = 0;
  for (const auto& [time, sample] : looks_while_it_ran(script)) {
    if (sample.ran < 1s) continue;
    most = std::max(most, std::abs(mib(sample.used) - 100));
  }
  EXPECT_GT(most, kMemoryNoiseMib / 4);
  EXPECT_LE(most, kMemoryNoiseMib + 0.001);
}

}  // namespace
}  // namespace plimsoll::sim

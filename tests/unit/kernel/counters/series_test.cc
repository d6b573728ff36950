
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "kernel/counters/sample_series.h"

namespace plimsoll::counters {
namespace {

using namespace std::chrono_literals;
using namespace plimsoll::literals;

std::vector<Sample> kept_of(const std::vector<Sample>& samples) {
  JobSeries series;
  for (const Sample& sample : samples) series.add(sample);
  return series.points();
}

Sample sample_at(Duration t, Bytes memory = {}) {
  Sample sample;
  sample.t = t;
  sample.memory.current = memory;
  return sample;
}

// A small generator of its own: rapidcheck draws the seed, as drawing each field is slow.
struct Dice {
  std::uint64_t state;
  std::uint64_t below(std::uint64_t end) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33) % end;
  }
};

// Runs of every length, with steps from nothing to an hour, and fields now and then absent. The
// wall time counts the samples.
std::vector<Sample> any_run() {
  const auto longest_run = *rc::gen::element(2, 50, 199, 200, 201, 3000);
  const auto count = *rc::gen::inRange(1, longest_run);
  const auto longest_step =
      static_cast<std::uint64_t>((*rc::gen::element<Duration>(5ms, 1s, 60s)).count());
  Dice dice{*rc::gen::arbitrary<std::uint64_t>()};
  const auto step = [&] { return Duration(static_cast<Duration::rep>(dice.below(longest_step))); };
  std::vector<Sample> run;
  Sample now;
  Duration cpu{}, stalled{};
  for (int i = 0; i < count; ++i) {
    now.wall = WallTime(Duration(i));
    now.t += step();
    cpu += step();
    stalled += step();
    now.cpu.usage = dice.below(9) == 0 ? std::nullopt : std::optional(cpu);
    now.memory.pressure = Pressure{.some = PressureLine{.total = stalled}};
    now.memory.current = Bytes{dice.below(1000)};
    now.memory.used = dice.below(3) == 0 ? std::optional(Bytes{dice.below(1000)}) : std::nullopt;
    now.pids.current = dice.below(1000);
    run.push_back(now);
  }
  return run;
}

std::size_t place_of(const Sample& sample) {
  return static_cast<std::size_t>(sample.wall.time_since_epoch().count());
}

RC_GTEST_PROP(JobSeries, IsBoundedAndInOrderFromFirstToLast, ()) {
  const auto run = any_run();
  const auto kept = kept_of(run);
  RC_ASSERT(!kept.empty());
  RC_ASSERT(kept.size() <= JobSeries::kPointsMax);
  RC_ASSERT(place_of(kept.front()) == 0U);
  RC_ASSERT(place_of(kept.back()) == run.size() - 1);
  for (std::size_t i = 1; i < kept.size(); ++i) {
    RC_ASSERT(place_of(kept[i - 1]) < place_of(kept[i]));
  }
}

template <class Field>
auto highest(const std::vector<Sample>& samples, Field field) {
  decltype(field(samples.front())) most;
  for (const Sample& sample : samples) most = std::max(most, field(sample));
  return most;
}

RC_GTEST_PROP(JobSeries, LosesNoHighestGauge, ()) {
  const auto run = any_run();
  const auto kept = kept_of(run);
  const auto current = [](const Sample& sample) { return sample.memory.current; };
  const auto used = [](const Sample& sample) { return sample.memory.used; };
  const auto pids = [](const Sample& sample) { return sample.pids.current; };
  RC_ASSERT(highest(run, current) == highest(kept, current));
  RC_ASSERT(highest(run, used) == highest(kept, used));
  RC_ASSERT(highest(run, pids) == highest(kept, pids));
}

// The steepest step between samples that were neighbours in the whole run.
template <class Field>
double steepest(const std::vector<Sample>& samples, Field field) {
  double most = 0;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const Sample &from = samples[i - 1], &to = samples[i];
    if (place_of(to) != place_of(from) + 1 || to.t == from.t) continue;
    if (!field(from) || !field(to)) continue;
    const double seconds = std::chrono::duration<double>(to.t - from.t).count();
    most = std::max(most, (*field(to) - *field(from)) / seconds);
  }
  return most;
}

RC_GTEST_PROP(JobSeries, LosesNoSteepestStep, ()) {
  const auto run = any_run();
  const auto kept = kept_of(run);
  const auto cpu = [](const Sample& sample) { return JobTraits::counters(sample)[0]; };
  const auto memory_stall = [](const Sample& sample) { return JobTraits::counters(sample)[2]; };
  RC_ASSERT(steepest(run, cpu) == steepest(kept, cpu));
  RC_ASSERT(steepest(run, memory_stall) == steepest(kept, memory_stall));
}

// Every sample has a kept one near it: closer than a 90th of the run's length, as at least half of
// the stretches are in use.
RC_GTEST_PROP(JobSeries, CoversTheWholeRunEvenly, ()) {
  const auto run = any_run();
  const auto kept = kept_of(run);
  const Duration most = std::max<Duration>(2ms, (run.back().t - run.front().t) / 90);
  std::size_t at = 0;
  for (const Sample& sample : run) {
    while (at + 1 < kept.size() && kept[at + 1].t <= sample.t) ++at;
    const Duration before = sample.t - kept[at].t;
    const Duration after = at + 1 < kept.size() ? kept[at + 1].t - sample.t : Duration::max();
    RC_ASSERT(std::min(before, after) < most);
  }
}

TEST(JobSeries, KeepsAllOfAShortRun) {
  std::vector<Sample> run;
  for (int i = 0; i < 100; ++i) run.push_back(sample_at(i * 1ms, {1}));
  EXPECT_EQ(kept_of(run).size(), 100U);
}

TEST(JobSeries, ADayOfSamplesFillsHalfTheRoomAtLeast) {
  JobSeries series;
  for (int i = 0; i < 86'400; ++i) series.add(sample_at(i * 1s, {1}));
  EXPECT_EQ(series.added(), 86'400U);
  const auto kept = series.points();
  EXPECT_GE(kept.size(), 94U);
  for (std::size_t i = 1; i < kept.size(); ++i) EXPECT_LT(kept[i].t - kept[i - 1].t, 1100s);
}

TEST(JobSeries, ASpikeOfOneSampleSurvives) {
  JobSeries series;
  for (int i = 0; i < 50'000; ++i) series.add(sample_at(i * 100ms, i == 31'234 ? 1_GiB : 1_MiB));
  const auto kept = series.points();
  const auto at_spike = std::ranges::find_if(
      kept, [](const Sample& sample) { return sample.memory.current == 1_GiB; });
  ASSERT_NE(at_spike, kept.end());
  EXPECT_EQ(at_spike->t, 31'234 * 100ms);
}

TEST(JobSeries, NothingAddedIsNothingKept) {
  EXPECT_TRUE(JobSeries().points().empty());
  EXPECT_EQ(JobSeries().last(), nullptr);
}

TEST(SystemSeries, KeepsTheLeastAvailableMemory) {
  SystemSeries series;
  for (int i = 0; i < 10'000; ++i) {
    SystemSample sample;
    sample.at = Instant(i * 1s);
    sample.meminfo["MemAvailable"] = i == 4321 ? 1_MiB : 9_GiB;
    series.add(std::move(sample));
  }
  const auto kept = series.points();
  EXPECT_LE(kept.size(), SystemSeries::kPointsMax);
  EXPECT_TRUE(std::ranges::any_of(
      kept, [](const SystemSample& sample) { return sample.at == Instant(4321s); }));
}

}  // namespace
}  // namespace plimsoll::counters

#include "sim/simulated_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "stage.h"

// The physics of the simulated machine, as stories whose figures are worked out by hand.
namespace plimsoll::sim {
namespace {

using namespace plimsoll::literals;
using namespace std::chrono_literals;
using policy::Outcome;
using std::vector;

// What starting, freezing and the like take is below this.
constexpr Duration kSlack = 50ms;

void expect_about(Duration found, Duration expected) {
  EXPECT_LE(std::chrono::abs(found - expected), kSlack)
      << std::chrono::duration<double>(found).count();
}

constexpr double kMib = 1 << 20;
double mib(Bytes bytes) { return static_cast<double>(bytes.count) / kMib; }

TEST(Machine, AJobAloneTakesTheTimeOfItsCurve) {
  const vector<SimJob> jobs{job(1, {{0, 100, 1}, {10, 200, 1}, {25, 0, 0}})};
  SimulatedExecutor executor({.cores = 2, .line = 1_GiB}, jobs);
  Script script(executor);
  script.start(0s, 1);
  EXPECT_EQ(executor.run(script), Stopped::quiet);
  expect_about(script.end_of(1).time, 25s);
  EXPECT_EQ(script.end_of(1).end.outcome, Outcome::exited);
  EXPECT_EQ(script.end_of(1).end.exit_code, 0);
  const Tally tally = executor.tally();
  EXPECT_EQ(tally.done, 1U);
  EXPECT_NEAR(tally.cpu_seconds, 25, 0.001);
  EXPECT_NEAR(tally.used_peak_mib, 200, 0.001);
  // 100 MiB to 200 in 10 s, to 0 in 15 s, less the little that the first allocation takes.
  EXPECT_NEAR(tally.mib_seconds, 1500 + 1500, 5);
  EXPECT_EQ(executor.used(), 0_MiB);
}

// When two jobs end that start together on so many cores.
struct Ends {
  Duration first, second;
};
Ends ends_of(double cores, const SimJob& first, const SimJob& second) {
  const vector<SimJob> jobs{first, second};
  SimulatedExecutor executor({.cores = cores, .line = 1_GiB}, jobs);
  Script script(executor);
  script.start(0s, 1).start(0s, 2);
  executor.run(script);
  return {script.end_of(1).time, script.end_of(2).time};
}

TEST(Machine, TwoJobsOnOneCoreTakeTwiceTheTime) {
  const Ends ends = ends_of(1, job(1, {{0, 1, 1}, {10, 1, 1}}), job(2, {{0, 1, 1}, {10, 1, 1}}));
  expect_about(ends.first, 20s);
  expect_about(ends.second, 20s);
}

TEST(Machine, CoresAreSharedByWhatIsAskedAndComeFreeAtAnEnd) {
  // 4 cores are asked for and 2 there: all at half their pace until the second ends at 10 s, when
  // half of the first is left.
  const Ends ends = ends_of(2, job(1, {{0, 1, 1}, {10, 1, 1}}), job(2, {{0, 1, 3}, {5, 1, 3}}));
  expect_about(ends.second, 10s);
  expect_about(ends.first, 15s);
}

TEST(Machine, WhoAsksNoCpuGoesOnInRealTime) {
  const Ends ends = ends_of(1, job(1, {{0, 1, 0}, {10, 1, 0}}), job(2, {{0, 1, 4}, {10, 1, 4}}));
  expect_about(ends.first, 10s);
  expect_about(ends.second, 40s);
}

TEST(Machine, AFrozenJobStandsStillWithItsMemory) {
  const vector<SimJob> jobs{job(1, {{0, 0, 1}, {10, 100, 1}, {20, 0, 1}})};
  SimulatedExecutor executor({.cores = 1, .line = 1_GiB}, jobs);
  Script script(executor);
  script.start(0s, 1)
      .at(5s, [&] { executor.freeze(JobId{1}); })
      .at(6s,
          [&] {
            EXPECT_TRUE(executor.is_frozen(JobId{1}));
            EXPECT_NEAR(mib(executor.used()), 50, 0.5);
          })
      .at(15s, [&] {
        EXPECT_NEAR(mib(executor.used()), 50, 0.5);
        executor.thaw(JobId{1});
        EXPECT_FALSE(executor.is_frozen(JobId{1}));
      });
  executor.run(script);
  expect_about(script.end_of(1).time, 30s);
  EXPECT_EQ(executor.tally().pauses, 1U);
  for (const auto& [time, sample] : script.samples) {
    EXPECT_TRUE(time < 5100ms || time > 15s) << "a sample of a frozen job";
    EXPECT_LE(sample.ran, 20s + kSlack) << "frozen time counted";
  }
}

TEST(Machine, AFreezeThatIsTakenBackAtOnceNeverWas) {
  const vector<SimJob> jobs{job(1, {{0, 1, 1}, {10, 1, 1}})};
  SimulatedExecutor executor({.cores = 1, .line = 1_GiB}, jobs);
  Script script(executor);
  script.start(0s, 1).at(5s, [&] {
    executor.freeze(JobId{1});
    executor.thaw(JobId{1});
  });
  executor.run(script);
  expect_about(script.end_of(1).time, 10s);
  EXPECT_EQ(executor.tally().pauses, 0U);
}

TEST(Machine, AKilledJobEndsOnceAndItsWorkIsLost) {
  const vector<SimJob> jobs{job(1, {{0, 500, 2}, {10, 500, 2}})};
  SimulatedExecutor executor({.cores = 4, .line = 1_GiB}, jobs);
  Script script(executor);
  script.start(0s, 1)
      .at(5s,
          [&] {
            executor.kill(JobId{1}, Outcome::evicted, "");
            executor.kill(JobId{1}, Outcome::cancelled, "");
          })
      .at(8s, [&] { executor.kill(JobId{1}, Outcome::cancelled, ""); });
  executor.run(script);
  ASSERT_EQ(script.ends.size(), 1U);
  EXPECT_EQ(script.end_of(1).end.outcome, Outcome::evicted);
  EXPECT_GE(script.end_of(1).time, 5s + kKillDelay);
  EXPECT_LE(script.end_of(1).time, 5s + kKillDelay + kSlack);
  EXPECT_NEAR(executor.tally().lost_cpu_seconds, 10, 0.1);
  EXPECT_EQ(executor.tally().evictions, 1U);
  EXPECT_EQ(executor.tally().done, 0U);
}

TEST(Machine, AFrozenJobDiesToo) {
  const vector<SimJob> jobs{job(1, {{0, 500, 2}, {10, 500, 2}})};
  SimulatedExecutor executor({.cores = 4, .line = 1_GiB}, jobs);
  Script script(executor);
  script.start(0s, 1)
      .at(5s, [&] { executor.freeze(JobId{1}); })
      .at(6s, [&] { executor.kill(JobId{1}, Outcome::evicted, ""); })
      .at(6s, [&] { executor.thaw(JobId{1}); });
  EXPECT_EQ(executor.run(script), Stopped::quiet);
  EXPECT_EQ(script.end_of(1).end.outcome, Outcome::evicted);
}

TEST(Machine, WithoutAWallTheKernelKillsTheLargestAtTheLine) {
  // Both are at 1,024 MiB together after 8 s: the second has 624 then.
  const vector<SimJob> jobs{job(1, {{0, 0, 1}, {1, 400, 1}, {100, 400, 1}}),
                            job(2, {{0, 0, 1}, {100, 7800, 1}})};
  SimulatedExecutor executor({.cores = 4, .line = 1_GiB, .wall = Wall::kill}, jobs);
  Script script(executor);
  script.start(0s, 1).start(0s, 2);
  executor.run(script);
  EXPECT_EQ(script.end_of(2).end.outcome, Outcome::machine_oom);
  expect_about(script.end_of(2).time, 8s);
  EXPECT_EQ(script.end_of(1).end.outcome, Outcome::exited);
  EXPECT_EQ(executor.tally().oom_kills, 1U);
  EXPECT_NEAR(executor.tally().used_peak_mib, 1024, 0.01);
}

TEST(Machine, AtTheWallAllocatorsCreepAndOthersGoOn) {
  // At 100 MiB/s the line of 1,000 MiB is reached after 10 s. By the kernel's rule one allocator
  // gets 128 KiB for 64 x overage^2 s: above 1.25 % x MiB too much grow by 1953 / x^2 in a second.
  const vector<SimJob> jobs{job(1, {{0, 0, 1}, {100, 10000, 1}}), job(2, {{0, 1, 1}, {30, 1, 1}})};
  SimulatedExecutor executor({.cores = 4, .line = 1000_MiB}, jobs);
  Script script(executor);
  script.start(0s, 1)
      .start(0s, 2)
      .at(11100ms, [&] { EXPECT_NEAR(mib(executor.used()), 1020, 5); })
      .at(12s, [&] { EXPECT_NEAR(mib(executor.used()), 1025, 4); })
      .at(13s, [&] { EXPECT_GT(executor.used(), 1022_MiB); });
  executor.run(script);
  expect_about(script.end_of(2).time, 30s);
  // Nobody relieves the wall, so the kernel kills in the end, long after.
  EXPECT_EQ(script.end_of(1).end.outcome, Outcome::machine_oom);
  EXPECT_GT(script.end_of(1).time, 13s);
  EXPECT_NEAR(executor.tally().used_peak_mib, 1000 / kHighShareOfMax, 0.01);
}

TEST(Machine, TheCrossingOfTheLineIsToldAtOnce) {
  const vector<SimJob> jobs{job(1, {{0, 0, 1}, {10, 2000, 1}})};
  SimulatedExecutor executor({.cores = 4, .line = 1000_MiB}, jobs);
  Script script(executor);
  script.start(0s, 1).at(6s, [&] { executor.kill(JobId{1}, Outcome::evicted, ""); });
  executor.run(script);
  const Duration crossed = 5s + kStartCost + kSampleDelay;
  EXPECT_THAT(script.machine,
              testing::Contains(testing::Field(
                  &std::pair<Duration, policy::MachineSample>::first,
                  testing::AllOf(testing::Ge(crossed), testing::Le(crossed + 1ms)))));
}

TEST(Machine, WhoSleepsInTheThrottleFreezesLateButDiesAtOnce) {
  const vector<SimJob> jobs{job(1, {{0, 0, 1}, {10, 2000, 1}}), job(2, {{0, 1, 1}, {20, 1, 1}})};
  SimulatedExecutor executor({.cores = 4, .line = 1000_MiB}, jobs);
  Script script(executor);
  script.start(0s, 1)
      .start(0s, 2)
      .at(6s, [&] { executor.freeze(JobId{1}); })
      .at(7900ms, [&] { EXPECT_FALSE(executor.is_frozen(JobId{1})); })
      .at(8100ms, [&] { EXPECT_TRUE(executor.is_frozen(JobId{1})); })
      .at(9s, [&] { executor.kill(JobId{1}, Outcome::evicted, ""); });
  executor.run(script);
  EXPECT_LE(script.end_of(1).time, 9s + kKillDelay + 60ms);
}

TEST(Machine, AFrozenJobsMemoryGoesToSwapAndComesBackBeforeItGoesOn) {
  const vector<SimJob> jobs{job(1, {{0, 600, 1}, {10, 600, 1}})};
  SimulatedExecutor executor({.cores = 1, .line = 1_GiB, .swap = 1_GiB}, jobs);
  Script script(executor);
  script.start(0s, 1)
      .at(4s, [&] { executor.reclaim(JobId{1}, 600_MiB); })  // runs: nothing
      .at(5s, [&] { executor.freeze(JobId{1}); })
      .at(6s,
          [&] {
            EXPECT_NEAR(mib(executor.used()), 600, 1);
            executor.reclaim(JobId{1}, 300_MiB);
          })
      .at(8s, [&] {
        EXPECT_NEAR(mib(executor.used()), 300, 1);
        EXPECT_NEAR(mib(executor.swap_free()), 724, 1);
        executor.thaw(JobId{1});
      });
  executor.run(script);
  // 3 s frozen, and half a second for 300 MiB to come back.
  EXPECT_NEAR(std::chrono::duration<double>(script.end_of(1).time).count(), 13.5, 0.2);
  EXPECT_EQ(executor.swap_free(), 1_GiB);
}

TEST(Machine, WithoutSwapReclaimingFreesNothing) {
  const vector<SimJob> jobs{job(1, {{0, 600, 1}, {10, 600, 1}})};
  SimulatedExecutor executor({.cores = 1, .line = 1_GiB}, jobs);
  Script script(executor);
  script.start(0s, 1)
      .at(5s, [&] { executor.freeze(JobId{1}); })
      .at(6s, [&] { executor.reclaim(JobId{1}, 300_MiB); })
      .at(8s, [&] { EXPECT_NEAR(mib(executor.used()), 600, 1); })
      .at(8s, [&] { executor.thaw(JobId{1}); });
  executor.run(script);
  expect_about(script.end_of(1).time, 13s);
}

TEST(Machine, APolicyThatThrowsAwayThreeTimesTheWorkIsStopped) {
  const vector<SimJob> jobs{job(1, {{0, 1, 1}, {10, 1, 1}})};
  SimulatedExecutor executor({.cores = 1, .line = 1_GiB}, jobs);
  Script script(executor);
  for (int i = 0; i < 100; ++i) {
    script.start(i * 10s, 1).at(i * 10s + 9s, [&] {
      executor.kill(JobId{1}, Outcome::evicted, "");
    });
  }
  EXPECT_EQ(executor.run(script), Stopped::thrown_away);
  EXPECT_NEAR(executor.tally().lost_cpu_seconds, 36, 0.1);
}

TEST(Machine, WhoOnlyAsksToBeWokenIsStopped) {
  const vector<SimJob> jobs{job(1, {{0, 1, 1}, {10, 1, 1}})};
  SimulatedExecutor executor({.cores = 1, .line = 1_GiB}, jobs);
  Script script(executor);
  for (int i = 0; i < 10'000; ++i) script.at(i * 1s, [] {});
  EXPECT_EQ(executor.run(script), Stopped::idle);
}

TEST(Machine, WhoFreezesAllForGoodIsStopped) {
  const vector<SimJob> jobs{job(1, {{0, 1, 1}, {10, 1, 1}})};
  SimulatedExecutor executor({.cores = 1, .line = 1_GiB}, jobs);
  Script script(executor);
  script.start(0s, 1).at(5s, [&] { executor.freeze(JobId{1}); });
  EXPECT_EQ(executor.run(script), Stopped::idle);
  EXPECT_EQ(executor.tally().done, 0U);
}

TEST(Machine, WhatTakesMoreThanAWeekIsStopped) {
  const double most = to_seconds(kSimulatedMax);
  const vector<SimJob> jobs{job(1, {{0, 1, 0}, {most / 2, 1, 0}}),
                            job(2, {{0, 1, 0}, {most, 1, 0}})};
  SimulatedExecutor executor({.cores = 1, .line = 1_GiB, .sampling = Sampling::none}, jobs);
  Script script(executor);
  script.start(0s, 1).start(kSimulatedMax / 4, 2);
  EXPECT_EQ(executor.run(script), Stopped::too_long);
  EXPECT_EQ(executor.tally().starts, 2U);
  EXPECT_EQ(executor.tally().done, 1U);
}

TEST(Machine, WhatNoPolicyCouldDoInAWeekIsNotBegun) {
  for (const double seconds : {1e6, 1e10, 1e300}) {
    const vector<SimJob> jobs{job(1, {{0, 1, 0}, {seconds, 1, 0}})};
    SimulatedExecutor executor({.cores = 1, .line = 1_GiB}, jobs);
    Script script(executor);
    EXPECT_EQ(executor.run(script), Stopped::too_long) << seconds;
  }
  const vector<SimJob> jobs{job(1, {{0, 1, 1e30F}, {1, 1, 0}})};
  SimulatedExecutor executor({.cores = 1, .line = 1_GiB}, jobs);
  Script script(executor);
  EXPECT_EQ(executor.run(script), Stopped::too_long);
}

// Starts its job again whenever it is killed.
class Stubborn final : public policy::ExecutorObserver {
 public:
  explicit Stubborn(SimulatedExecutor& executor) : executor_(executor) { start(); }
  void on_job(JobId, const policy::JobSample&) override {}
  void on_machine(const policy::MachineSample&) override {}
  void on_over(JobId, const policy::AttemptEnd&) override { start(); }
  void on_wake() override {}

 private:
  void start() { executor_.start({.job = JobId{1}, .attempt = ++attempts_}); }
  SimulatedExecutor& executor_;
  unsigned attempts_ = 0;
};

TEST(Machine, AJobThatIsKilledBeforeItDoesAnythingIsNotStartedForEver) {
  const vector<SimJob> jobs{job(1, {{0, 1, 0}, {0.001, 1e6, 0}, {10, 1, 1}})};
  SimulatedExecutor executor({.cores = 1, .line = 1_GiB, .sampling = Sampling::none}, jobs);
  Stubborn stubborn(executor);
  EXPECT_EQ(executor.run(stubborn), Stopped::thrown_away);
  EXPECT_LE(executor.tally().starts, 200'000U);
}

// Asks to be woken where it stands.
class Restless final : public policy::ExecutorObserver {
 public:
  explicit Restless(SimulatedExecutor& executor) : executor_(executor) { on_wake(); }
  void on_job(JobId, const policy::JobSample&) override {}
  void on_machine(const policy::MachineSample&) override {}
  void on_over(JobId, const policy::AttemptEnd&) override {}
  void on_wake() override { executor_.wake_at(executor_.now()); }

 private:
  SimulatedExecutor& executor_;
};

TEST(Machine, WhoIsWokenAgainAndAgainAtOneMomentIsStopped) {
  const vector<SimJob> jobs{job(1, {{0, 1, 1}, {10, 1, 1}})};
  SimulatedExecutor executor({.cores = 1, .line = 1_GiB}, jobs);
  Restless restless(executor);
  EXPECT_EQ(executor.run(restless), Stopped::idle);
}

}  // namespace
}  // namespace plimsoll::sim

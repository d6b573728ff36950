#include "sim/machine.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "sim/baselines.h"

// The physics of the simulated machine, as stories whose times are worked out by hand.
namespace plimsoll::sim {
namespace {

using namespace plimsoll::literals;
using namespace std::chrono_literals;

SimJob job(std::size_t number, std::vector<CurvePoint> points) {
  SimJob job{.spec = {}, .curve = Curve(std::move(points))};
  job.spec.id = JobId{number};
  job.spec.name = std::to_string(number);
  return job;
}

// Nothing of it is random: times are met but for the start cost and rounding.
void expect_about(Duration found, Duration expected) {
  EXPECT_GE(found, expected);
  EXPECT_LE(found, expected + 10ms);
}

TEST(Machine, AJobAloneTakesTheTimeOfItsCurve) {
  const std::vector<SimJob> jobs{job(1, {{0, 100, 1}, {10, 200, 1}, {25, 0, 0}})};
  SimulatedWorld world({.cores = 2, .line = 1_GiB}, jobs);
  FixedJobs policy(world, jobs, 1);
  EXPECT_EQ(world.run(policy), Stopped::quiet);
  EXPECT_EQ(world.tally().done, 1U);
  expect_about(world.tally().last_end, 25s);
}

TEST(Machine, TwoJobsOnOneCoreTakeTwiceTheTime) {
  const std::vector<SimJob> jobs{job(1, {{0, 1, 1}, {10, 1, 1}}), job(2, {{0, 1, 1}, {10, 1, 1}})};
  SimulatedWorld world({.cores = 1, .line = 1_GiB}, jobs);
  FixedJobs policy(world, jobs, 2);
  EXPECT_EQ(world.run(policy), Stopped::quiet);
  expect_about(world.tally().last_end, 20s);
}

}  // namespace
}  // namespace plimsoll::sim

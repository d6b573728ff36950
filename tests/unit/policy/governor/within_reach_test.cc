#include <gtest/gtest.h>

#include "policy/estimator/estimator.h"
#include "policy/job/job.h"

namespace plimsoll::policy {
namespace {

using namespace literals;
using namespace std::chrono_literals;

TEST(WithinReach, HintsEndAtTheMachine) {
  JobSpec job;
  EXPECT_FALSE(within_reach(job, 2_GiB, 4).memory_hint);
  EXPECT_FALSE(within_reach(job, 2_GiB, 4).cpu_hint);
  job.memory_hint = 1_GiB;
  job.cpu_hint = 2;
  EXPECT_EQ(within_reach(job, 2_GiB, 4).memory_hint, 1_GiB);
  EXPECT_EQ(within_reach(job, 2_GiB, 4).cpu_hint, 2);
  job.memory_hint = 1024_GiB;
  job.cpu_hint = 100'000;
  EXPECT_EQ(within_reach(job, 2_GiB, 4).memory_hint, 2_GiB);
  EXPECT_EQ(within_reach(job, 2_GiB, 4).cpu_hint, 4);
}

TEST(WithinReach, WhoUsesNothingOfAGiantHintMakesRoom) {
  JobSpec job;
  job.memory_hint = 1024_GiB;
  const JobSpec bounded = within_reach(job, 2_GiB, 4);
  LiveProfile live_profile;
  for (int second = 0; second <= 60; ++second) {
    live_profile.observe({.ran = second * 1s, .used = 1_MiB, .peak = 1_MiB});
  }
  const Estimator estimator;
  const Key key = key_of(job, "/");
  const auto most = [&](const JobSpec& asked) {
    const Estimate estimate =
        estimator.estimate(key, {.memory_hint = asked.memory_hint}, live_profile);
    return estimate.peak.mean + estimate.peak.spread;
  };
  EXPECT_GT(most(job), to_double(2_GiB));
  EXPECT_LT(most(bounded), to_double(1_GiB));
}

}  // namespace
}  // namespace plimsoll::policy

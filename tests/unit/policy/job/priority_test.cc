#include "policy/job/priority.h"

#include <gtest/gtest.h>

namespace plimsoll::policy {
namespace {

TEST(Priority, AWeightForEach) {
  EXPECT_EQ(weight_of(0), 100u);
  EXPECT_EQ(weight_of(1), 125u);
  EXPECT_EQ(weight_of(-1), 80u);
  EXPECT_EQ(weight_of(1000), 10'000u);
  EXPECT_EQ(weight_of(-1000), 1u);
}

TEST(Priority, IsAWeightOfTheJobsGroup) {
  JobSpec job;
  EXPECT_EQ(weighted_limits(job).weight, std::nullopt);
  job.priority = 2;
  job.limits.cpu_weight = 7;
  EXPECT_EQ(weighted_limits(job).weight, 156u);
  EXPECT_EQ(weighted_limits(job).cpu_weight, 7u);
}

}  // namespace
}  // namespace plimsoll::policy

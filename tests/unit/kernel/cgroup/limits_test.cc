#include "kernel/cgroup/limits.h"

#include <gtest/gtest.h>

namespace plimsoll::cgroup {
namespace {

TEST(CpuQuota, IsOfTheKernelsDefaultPeriodWhereThatHoldsIt) {
  EXPECT_EQ(cpu_quota_of(0.5), (CpuQuota{.quota_us = 50'000, .period_us = 100'000}));
  EXPECT_EQ(cpu_quota_of(0.01), (CpuQuota{.quota_us = 1'000, .period_us = 100'000}));
  EXPECT_EQ(cpu_quota_of(128), (CpuQuota{.quota_us = 12'800'000, .period_us = 100'000}));
}

TEST(CpuQuota, OfLessIsTheLeastThereIsInALongerPeriod) {
  EXPECT_EQ(cpu_quota_of(0.005), (CpuQuota{.quota_us = 1'000, .period_us = 200'000}));
  EXPECT_EQ(cpu_quota_of(0.003), (CpuQuota{.quota_us = 1'000, .period_us = 333'333}));
  EXPECT_EQ(cpu_quota_of(kCpusMin), (CpuQuota{.quota_us = 1'000, .period_us = 1'000'000}));
}

}  // namespace
}  // namespace plimsoll::cgroup

#include "supervisor/capacity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace plimsoll::supervisor {
namespace {

TEST(Capacity, MoreJobsThanDescriptorsSufficeForAreRefused) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{.rlim_cur = 1000, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  EXPECT_TRUE(check_jobs_at_once(16));
  const auto refused = check_jobs_at_once(17);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), testing::HasSubstr("found 17, expected at most 16"));
}

}  // namespace
}  // namespace plimsoll::supervisor

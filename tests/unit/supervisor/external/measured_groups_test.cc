#include "supervisor/external/measured_groups.h"

#include <gtest/gtest.h>

namespace plimsoll::supervisor {
namespace {

TEST(MeasuredGroupsTest, CountsWhoIsInOneOrBelow) {
  MeasuredGroups groups;
  EXPECT_TRUE(groups.empty());
  groups.add("/plimsoll-1/pool");
  groups.add("/theirs/job/");
  EXPECT_TRUE(groups.count("0::/plimsoll-1/pool\n"));
  EXPECT_TRUE(groups.count("0::/plimsoll-1/pool/user-7/job-1\n"));
  EXPECT_TRUE(groups.count("0::/theirs/job\n"));
  for (const char* other : {"0::/\n", "0::/plimsoll-1\n", "0::/plimsoll-1/pool2\n", "0::/theirs\n",
                            "0::/elsewhere/plimsoll-1/pool\n", "0::\n", "\n", ""}) {
    EXPECT_FALSE(groups.count(other)) << other;
  }
}

// A process may be in different groups of different hierarchies.
TEST(MeasuredGroupsTest, CountsWhereMemoryIsCharged) {
  MeasuredGroups groups;
  groups.add("/pool");
  EXPECT_TRUE(groups.count("4:memory:/pool/job\n2:cpu,cpuacct:/\n0::/\n"));
  EXPECT_FALSE(groups.count("4:memory:/\n2:cpu,cpuacct:/pool/job\n0::/pool/job\n"));
  EXPECT_TRUE(groups.count("2:cpu,cpuacct:/\n1:name=systemd:/\n0::/pool/job\n"));
}

}  // namespace
}  // namespace plimsoll::supervisor

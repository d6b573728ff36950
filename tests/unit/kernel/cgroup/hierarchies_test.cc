#include "kernel/cgroup/hierarchies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::cgroup {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Hierarchies bound(std::string_view mountinfo, std::string_view memberships) {
  return bind_hierarchies(parse_mountinfo(mountinfo), parse_memberships(memberships));
}

// Where each hierarchy's own group is, in order.
std::vector<std::string> own_directories(const Hierarchies& hierarchies) {
  std::vector<std::string> directories;
  for (const Hierarchy& h : hierarchies.all) directories.push_back(h.directory_of(h.own_path));
  return directories;
}

constexpr const char* kV2Mount = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
constexpr const char* kHybridMounts =
    "31 23 0:27 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n"
    "32 23 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "33 23 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "34 23 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

TEST(BindHierarchies, V2) {
  const auto found = bound(kV2Mount, "0::/user.slice/x\n");
  EXPECT_EQ(found.layout(), Layout::v2);
  EXPECT_THAT(own_directories(found), ElementsAre("/sys/fs/cgroup/user.slice/x"));
  ASSERT_NE(found.v2(), nullptr);
}

TEST(BindHierarchies, HybridPutsV2First) {
  const auto found = bound(
      kHybridMounts, "12:name=systemd:/init\n4:memory:/m\n3:cpu,cpuacct:/c\n5:pids:/p\n0::/u\n");
  EXPECT_EQ(found.layout(), Layout::hybrid);
  EXPECT_THAT(own_directories(found),
              ElementsAre("/sys/fs/cgroup/unified/u", "/sys/fs/cgroup/memory/m",
                          "/sys/fs/cgroup/cpu,cpuacct/c"));
  EXPECT_EQ(found.of(Controller::cpuacct)->mount_point, "/sys/fs/cgroup/cpu,cpuacct");
  EXPECT_EQ(found.of(Controller::memory)->mount_point, "/sys/fs/cgroup/memory");
  EXPECT_EQ(found.of(Controller::pids), nullptr);
}

TEST(BindHierarchies, V1Alone) {
  const auto found = bound("33 23 0:29 / /c/memory rw - cgroup cgroup rw,memory\n", "4:memory:/\n");
  EXPECT_EQ(found.layout(), Layout::v1);
  EXPECT_EQ(found.v2(), nullptr);
  EXPECT_THAT(own_directories(found), ElementsAre("/c/memory"));
}

TEST(BindHierarchies, NothingWithoutMountsOrMemberships) {
  EXPECT_THAT(bound("", "0::/\n").all, IsEmpty());
  EXPECT_THAT(bound(kV2Mount, "").all, IsEmpty());
  EXPECT_THAT(bound("", "").all, IsEmpty());
}

TEST(BindHierarchies, OfSeveralMountsTheOneNearestToTheOwnGroup) {
  const char* kMounts =
      "30 23 0:26 / /all rw - cgroup2 cgroup2 rw\n"
      "31 23 0:26 /a/b /near rw - cgroup2 cgroup2 rw\n"
      "32 23 0:26 /a /middle rw - cgroup2 cgroup2 rw\n"
      "33 23 0:26 /other /elsewhere rw - cgroup2 cgroup2 rw\n";
  const struct {
    const char* own;
    const char* directory;
  } kCases[] = {
      {"0::/a/b/c", "/near/c"},   {"0::/a/b", "/near"}, {"0::/a/x", "/middle/x"},
      {"0::/a", "/middle"},       {"0::/", "/all"},     {"0::/abc", "/all/abc"},
      {"0::/a/bc", "/middle/bc"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(own_directories(bound(kMounts, c.own)), ElementsAre(c.directory)) << c.own;
  }
}

TEST(BindHierarchies, AWritableMountBeforeAReadOnlyOneOfTheSame) {
  const std::string kReadOnly = "30 23 0:26 / /ro ro - cgroup2 cgroup2 rw\n";
  const std::string kWritable = "31 23 0:26 / /rw rw - cgroup2 cgroup2 rw\n";
  EXPECT_THAT(own_directories(bound(kReadOnly + kWritable, "0::/x")), ElementsAre("/rw/x"));
  EXPECT_THAT(own_directories(bound(kWritable + kReadOnly, "0::/x")), ElementsAre("/rw/x"));
  const auto found = bound(kReadOnly, "0::/x");
  ASSERT_EQ(found.all.size(), 1U);
  EXPECT_TRUE(found.all[0].read_only);
}

TEST(BindHierarchies, AContainerWhoseMountShowsItsOwnGroupAlone) {
  const auto found = bound("30 23 0:26 /docker/4f /sys/fs/cgroup rw - cgroup2 cgroup rw\n",
                           "0::/docker/4f/work\n");
  EXPECT_THAT(own_directories(found), ElementsAre("/sys/fs/cgroup/work"));
}

TEST(BindHierarchies, AGroupOutsideEveryMountIsLeftOut) {
  // A bind mount of somewhere else, and a process outside the root of its cgroup namespace.
  EXPECT_THAT(bound("30 23 0:26 /a /c rw - cgroup2 cgroup rw\n", "0::/b\n").all, IsEmpty());
  EXPECT_THAT(bound(kV2Mount, "0::/../b\n").all, IsEmpty());
}

TEST(BindHierarchies, ControllersMountedTogetherBelongTogether) {
  // cpu alone is another hierarchy than cpu with cpuacct.
  EXPECT_THAT(bound("32 23 0:28 / /c rw - cgroup cgroup rw,cpu,cpuacct\n", "3:cpu:/\n").all,
              IsEmpty());
  EXPECT_THAT(own_directories(bound("32 23 0:28 / /c rw - cgroup cgroup rw,cpuacct,cpu\n",
                                    "3:cpu,cpuacct:/x\n")),
              ElementsAre("/c/x"));
}

TEST(DirectoryOf, TakesTheMountedRootOff) {
  Hierarchy hierarchy;
  hierarchy.mount_point = "/m";
  hierarchy.mount_root = "/a";
  EXPECT_EQ(hierarchy.directory_of("/a"), "/m");
  EXPECT_EQ(hierarchy.directory_of("/a/b"), "/m/b");
  hierarchy.mount_root = "/";
  EXPECT_EQ(hierarchy.directory_of("/"), "/m");
  EXPECT_EQ(hierarchy.directory_of("/b/c"), "/m/b/c");
}

TEST(ParseV2Controllers, TakesThoseItKnows) {
  EXPECT_EQ(parse_v2_controllers("cpuset cpu io memory hugetlb pids rdma misc\n"),
            ControllerSet(Controller::cpuset, Controller::cpu, Controller::io, Controller::memory,
                          Controller::pids));
  EXPECT_EQ(parse_v2_controllers("io\n"), ControllerSet(Controller::io));
  for (const char* none : {"", "\n", " \n", "blkio", "memorymemory"}) {
    EXPECT_TRUE(parse_v2_controllers(none).empty()) << none;
  }
}

}  // namespace
}  // namespace plimsoll::cgroup

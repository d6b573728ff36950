#include "kernel/cgroup/mountinfo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::cgroup {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Mount v2(std::string mount_point, std::string root = "/") {
  Mount mount;
  mount.version = Version::v2;
  mount.mount_point = std::move(mount_point);
  mount.root = std::move(root);
  return mount;
}

Mount v1(std::string mount_point, ControllerSet controllers, std::string root = "/") {
  Mount mount = v2(std::move(mount_point), std::move(root));
  mount.version = Version::v1;
  mount.controllers = controllers;
  return mount;
}

TEST(ParseMountinfo, OneLine) {
  Mount read_only = v2("/sys/fs/cgroup");
  read_only.read_only = true;
  const struct {
    const char* line;
    Mount expected;
  } kGood[] = {
      {"30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev shared:9 - cgroup2 cgroup2 rw,nsdelegate",
       v2("/sys/fs/cgroup")},
      {"30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw", v2("/sys/fs/cgroup")},
      {"30 23 0:26 / /c rw shared:9 master:1 propagate_from:2 - cgroup2 none rw", v2("/c")},
      {"30 23 0:26 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup2 rw", read_only},
      {"30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 ro", read_only},
      {"30 23 0:26 /docker/4f /sys/fs/cgroup rw - cgroup2 cgroup rw",
       v2("/sys/fs/cgroup", "/docker/4f")},
      {"30 23 0:26 /../.. /sys/fs/cgroup rw - cgroup2 cgroup rw", v2("/sys/fs/cgroup", "/../..")},
      {"35 32 0:30 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory",
       v1("/sys/fs/cgroup/memory", ControllerSet(Controller::memory))},
      {"35 32 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct",
       v1("/sys/fs/cgroup/cpu,cpuacct", ControllerSet(Controller::cpu, Controller::cpuacct))},
      {"35 32 0:30 / /b rw - cgroup cgroup rw,blkio", v1("/b", ControllerSet(Controller::io))},
      {"35 32 0:30 / /n rw - cgroup cgroup rw,net_cls,freezer,clone_children",
       v1("/n", ControllerSet(Controller::freezer))},
      // A space, a tab, a newline and a backslash in names.
      {R"(30 23 0:26 /a\040b /m\011n\012o\134p rw - cgroup2 cgroup2 rw)",
       v2("/m\tn\no\\p", "/a b")},
      {R"(30 23 0:26 / /odd\9\04 rw - cgroup2 cgroup2 rw)", v2("/odd\\9\\04")},
      // " - " within a name is written \040-\040.
      {R"(30 23 0:26 / /a\040-\040b rw - cgroup2 cgroup2 rw)", v2("/a - b")},
  };
  for (const auto& good : kGood) {
    EXPECT_THAT(parse_mountinfo(good.line), ElementsAre(good.expected)) << good.line;
  }
}

TEST(ParseMountinfo, PassesOverTheRest) {
  for (const char* line :
       {"", "\n\n", "garbage", " - ", " - cgroup2", "30 23 0:26 - cgroup2 cgroup2 rw",
        "30 23 0:26 / - cgroup2 cgroup2 rw", "21 1 8:1 / / rw - ext4 /dev/sda1 rw",
        "31 23 0:27 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd",
        "31 23 0:27 / /d rw - cgroup cgroup rw,devices", "31 23 0:27 / /d rw - cgroup3 x rw",
        "31 23 0:27 / /t rw - tmpfs cgroup rw,memory",
        "31 23 0:27 / /cgroup2 rw cgroup2 cgroup2 rw"}) {
    EXPECT_THAT(parse_mountinfo(line), IsEmpty()) << line;
  }
}

TEST(ParseMountinfo, KeepsTheOrderOfItsLines) {
  EXPECT_THAT(parse_mountinfo("1 1 0:1 / / rw - ext4 x rw\n"
                              "2 1 0:2 / /v1 rw - cgroup cgroup rw,pids\n"
                              "3 1 0:3 / /v2 rw - cgroup2 cgroup2 rw\n"
                              "2 1 0:2 /below /again rw - cgroup cgroup rw,pids"),
              ElementsAre(v1("/v1", ControllerSet(Controller::pids)), v2("/v2"),
                          v1("/again", ControllerSet(Controller::pids), "/below")));
}

TEST(ParseMemberships, OneLine) {
  const auto v1_of = [](auto... controllers) { return ControllerSet(controllers...); };
  const struct {
    const char* line;
    Membership expected;
  } kGood[] = {
      {"0::/", {Version::v2, {}, "/"}},
      {"0::/user.slice/user-0.slice", {Version::v2, {}, "/user.slice/user-0.slice"}},
      {"0::/../other", {Version::v2, {}, "/../other"}},
      {"0::/a:b/c::d", {Version::v2, {}, "/a:b/c::d"}},
      {"0::/gone (deleted)", {Version::v2, {}, "/gone"}},
      {"4:memory:/x", {Version::v1, v1_of(Controller::memory), "/x"}},
      {"11:cpu,cpuacct:/", {Version::v1, v1_of(Controller::cpu, Controller::cpuacct), "/"}},
      {"11:net_cls,blkio:/", {Version::v1, v1_of(Controller::io), "/"}},
      {"4:memory:/a b\t", {Version::v1, v1_of(Controller::memory), "/a b\t"}},
  };
  for (const auto& good : kGood) {
    EXPECT_THAT(parse_memberships(good.line), ElementsAre(good.expected)) << good.line;
  }
}

TEST(ParseMemberships, PassesOverTheRest) {
  for (const char* line :
       {"", "\n", "0", "0:", "0::", "0::relative", "x::/", "-1::/", ":::/", "9:name=systemd:/x",
        "5:devices:/", "4:memory", "4:memory:", "4:cpuset2:/"}) {
    EXPECT_THAT(parse_memberships(line), IsEmpty()) << line;
  }
}

}  // namespace
}  // namespace plimsoll::cgroup

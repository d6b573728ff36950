#include "supervisor/run/disk_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/statfs.h>

namespace plimsoll::supervisor {
namespace {

using namespace plimsoll::literals;
using ::testing::HasSubstr;

TEST(DiskOptions, PathAndFloor) {
  const auto disk = parse_disk("/a=b=2G");
  ASSERT_TRUE(disk);
  EXPECT_EQ(disk->path, "/a=b");
  EXPECT_EQ(std::get<Bytes>(disk->floor), 2_GiB);
  EXPECT_EQ(std::get<Percent>(parse_disk(".=5%")->floor).value, 5);
}

TEST(DiskOptions, WhatIsNone) {
  for (const char* text : {"", "/tmp", "=2G"}) {
    const auto disk = parse_disk(text);
    ASSERT_FALSE(disk) << text;
    EXPECT_EQ(disk.error().message(), "found \"" + std::string(text) +
                                          "\", expected PATH=FLOOR, such as /tmp=2G or /tmp=5%");
  }
}

TEST(DiskOptions, WhatIsNoFloor) {
  for (const char* text : {"/tmp=", "/tmp=many", "/tmp=100%", "/tmp=-1%", "/tmp=-1", "/tmp=%"}) {
    const auto disk = parse_disk(text);
    ASSERT_FALSE(disk) << text;
    EXPECT_EQ(disk.error().message(), "found \"" + std::string(text) +
                                          "\", expected a size such as 2G, or a share of the file "
                                          "system below 100%, after \"/tmp=\"");
  }
}

// Then what the jobs are still to write is all that is kept free.
TEST(DiskOptions, AFloorMayBeZero) {
  EXPECT_EQ(std::get<Bytes>(parse_disk("/tmp=0")->floor), Bytes{});
  EXPECT_EQ(std::get<Percent>(parse_disk("/tmp=0%")->floor).value, 0);
  EXPECT_TRUE(disk_floors({.disks = {{"/", Percent{0}}}}));
}

TEST(DiskOptions, OfTwoPathsOnAFileSystemTheHigherFloor) {
  const auto floors = disk_floors({.disks = {{"/proc", Bytes{}}}});
  EXPECT_FALSE(floors) << "nothing of it can stay free";
  const auto same = disk_floors({.disks = {{"/", 1_MiB}, {"/..", 3_MiB}, {"/.", 2_MiB}}});
  ASSERT_TRUE(same) << same.error().message();
  EXPECT_EQ(same->front().floor, 3_MiB);
  EXPECT_EQ(same->front().rule, policy::DiskRule::hold);
  for (std::size_t i = 1; i < same->size(); ++i) {
    EXPECT_EQ((*same)[i].rule, policy::DiskRule::tell);
  }
}

TEST(DiskOptions, AFloorAsAShareIsOneOfTheFileSystem) {
  struct statfs seen{};
  ASSERT_EQ(::statfs("/", &seen), 0);
  const auto kept = seen.f_bfree - seen.f_bavail;  // for root
  const double size =
      static_cast<double>(seen.f_blocks - kept) * static_cast<double>(seen.f_frsize);
  const auto floors = disk_floors({.disks = {{"/", Percent{50}}}});
  ASSERT_TRUE(floors);
  EXPECT_NEAR(to_double(floors->front().floor), size / 2, 1);
}

TEST(DiskOptions, NoOthersAreWatchedWhereOnlyThoseThatAreNamedAre) {
  EXPECT_TRUE(named_floors({})->empty());
  const auto floors = named_floors({.disks = {{"/", 1_MiB}}});
  ASSERT_TRUE(floors);
  ASSERT_EQ(floors->size(), 1u);
  EXPECT_EQ(floors->front().rule, policy::DiskRule::hold);
  const auto missing = named_floors({.disks = {{"/does/not/exist", 1_MiB}}, .disks_name = "f:3"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message(), "f:3: /does/not/exist: No such file or directory");
}

TEST(DiskOptions, WhatMakesNoSenseIsTold) {
  const auto missing = disk_floors({.disks = {{"/does/not/exist", 1_MiB}}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message(), "--disk: /does/not/exist: No such file or directory");
  const auto file = disk_floors({.disks = {{"/proc/self/stat", 1_MiB}}});
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message(), HasSubstr("Not a directory"));
  const auto whole = disk_floors({.disks = {{"/", Bytes{std::uint64_t{1} << 60}}}});
  ASSERT_FALSE(whole);
  EXPECT_THAT(whole.error().message(),
              HasSubstr("--disk: /: a floor of 1048576 TiB leaves nothing"));
}

}  // namespace
}  // namespace plimsoll::supervisor

#include "cgroup/remove.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "cgroup/subtree.h"

// On a plain directory tree, where rmdir of a directory with children fails as it does on cgroupfs,
// but with another error number: so only groups without children, and the limits, show here. The
// rest is in tests/host/reap_test.cc.
namespace plimsoll::cgroup {
namespace {

class RemoveTest : public ::testing::Test {
 protected:
  RemoveTest() {
    std::string pattern = ::testing::TempDir() + "removeXXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~RemoveTest() override { std::filesystem::remove_all(path_); }

  [[nodiscard]] Directory open(const std::string& below = "") const {
    return *Directory::open(path_ + below, Version::v2);
  }

  std::string path_;
};

TEST_F(RemoveTest, WhatIsNotThereIsDone) {
  const auto removed = remove_tree(open(), "never-made");
  ASSERT_TRUE(removed);
  EXPECT_EQ(*removed, Removal::done);
}

TEST_F(RemoveTest, AnEmptyGroupGoesAtOnce) {
  ASSERT_EQ(::mkdir((path_ + "/job").c_str(), 0755), 0);
  EXPECT_EQ(*remove_tree(open(), "job"), Removal::done);
  EXPECT_FALSE(std::filesystem::exists(path_ + "/job"));
}

TEST_F(RemoveTest, AGroupThatWasReplacedIsLeftAlone) {
  ASSERT_EQ(::mkdir((path_ + "/job").c_str(), 0755), 0);
  std::vector<Group::Part> parts;
  parts.push_back({open("/job"), ControllerSet()});
  const Group group("job", std::move(parts));
  ASSERT_EQ(::rename((path_ + "/job").c_str(), (path_ + "/old").c_str()), 0);
  ASSERT_EQ(::mkdir((path_ + "/job").c_str(), 0755), 0);
  ASSERT_EQ(::rmdir((path_ + "/old").c_str()), 0);
  EXPECT_EQ(*remove_group(group), Removal::done);
  EXPECT_TRUE(std::filesystem::exists(path_ + "/job"));
}

TEST_F(RemoveTest, VisitsParentsFirstAndStopsAtTheDepthLimit) {
  std::string deep = path_;
  for (unsigned i = 0; i < kSubtreeDepthMax; ++i) {
    deep += "/d";
    ASSERT_EQ(::mkdir(deep.c_str(), 0755), 0);
  }
  std::vector<std::size_t> lengths;
  const auto visit = [&](const Directory& d) { lengths.push_back(d.label().size()); };
  EXPECT_TRUE(visit_subtree(open(), visit));
  EXPECT_EQ(lengths.size(), kSubtreeDepthMax + 1);
  EXPECT_TRUE(std::is_sorted(lengths.begin(), lengths.end()));

  ASSERT_EQ(::mkdir((deep + "/d").c_str(), 0755), 0);
  const auto visited = visit_subtree(open(), visit);
  ASSERT_FALSE(visited);
  EXPECT_EQ(visited.error().code, std::errc::value_too_large);
}

}  // namespace
}  // namespace plimsoll::cgroup

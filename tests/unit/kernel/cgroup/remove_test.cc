#include "kernel/cgroup/remove.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "kernel/cgroup/subtree.h"

// On a plain directory tree, where rmdir of a directory with children fails as it does on cgroupfs,
// but with another error number: so only groups without children, and the walk, show here. The rest
// is in tests/host/reap/reap_test.cc.
namespace plimsoll::cgroup {
namespace {

class RemoveTest : public ::testing::Test {
 protected:
  RemoveTest() {
    std::string pattern = ::testing::TempDir() + "removeXXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  // Its own paths would get too long for std::filesystem.
  ~RemoveTest() override { std::system(("rm -rf " + path_).c_str()); }

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

// Deeper than a path can be long, and than descriptors would reach.
constexpr unsigned kDeep = 3000;

// Makes a directory in a directory and so on; closes each above the next.
void nest(const Directory& top, unsigned depth) {
  auto at = top.clone();
  for (unsigned i = 0; i < depth; ++i) {
    auto child = at->make_child("d");
    ASSERT_TRUE(child);
    at = std::move(child);
  }
}

TEST_F(RemoveTest, VisitsParentsFirstHoweverDeep) {
  nest(open(), kDeep);
  ASSERT_TRUE(open().make_child("beside"));
  std::vector<std::string> entered;
  int highest = 0;
  const auto visit = [&](const Directory& d) {
    entered.push_back(d.label());
    highest = std::max(highest, d.fd());
  };
  const int before = open().fd();
  ASSERT_TRUE(visit_subtree(open(), visit));
  EXPECT_EQ(entered.size(), 1 + kDeep + 1);
  EXPECT_EQ(entered.front(), path_);
  EXPECT_LT(highest, before + 8) << "one group is open at a time";
  for (const std::string& label : entered) EXPECT_LE(label.size(), Directory::kLabelMax + 4);
}

TEST_F(RemoveTest, AWalkLeavesOutWhatItIsToldAndWhatVanishes) {
  for (const char* name : {"/a", "/a/x", "/b", "/b/y", "/c"}) {
    ASSERT_EQ(::mkdir((path_ + name).c_str(), 0755), 0);
  }
  SubtreeWalk walk(open());
  std::vector<std::string> entered;
  std::vector<std::string> left;
  for (auto step = walk.next(); step != SubtreeWalk::Step::ended; step = walk.next()) {
    if (step == SubtreeWalk::Step::found && walk.name() == "b") walk.pass_over();
    if (step == SubtreeWalk::Step::found && walk.name() == "c") ::rmdir((path_ + "/c").c_str());
    if (step == SubtreeWalk::Step::entered) entered.push_back(walk.name());
    if (step == SubtreeWalk::Step::left) left.push_back(walk.name());
  }
  EXPECT_EQ(entered, (std::vector<std::string>{"a", "x"}));
  std::erase(left, "c");
  EXPECT_EQ(left, (std::vector<std::string>{"x", "a"}));
  EXPECT_TRUE(walk.trouble());
}

TEST_F(RemoveTest, OnlyWhatTimeDoesNotChangeIsFinal) {
  for (const std::errc code : {std::errc::operation_not_permitted, std::errc::permission_denied,
                               std::errc::read_only_file_system}) {
    EXPECT_TRUE(is_final({.code = code}));
  }
  for (const std::errc code : {std::errc::device_or_resource_busy, std::errc::not_enough_memory,
                               std::errc::too_many_files_open}) {
    EXPECT_FALSE(is_final({.code = code}));
  }
}

}  // namespace
}  // namespace plimsoll::cgroup

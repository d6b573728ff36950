#include "daemon/runner/temporary_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/daemon/api/tree.h"

namespace plimsoll::daemon {
namespace {

using testing::StartsWith;
namespace fs = std::filesystem;

using RunnerFiles = BuildTree;

TEST_F(RunnerFiles, WhatIsMissingIsTold) {
  fs::create_symlink("nowhere", build / "dangling");
  EXPECT_TRUE(check_path_exists(build / "1").ok());
  const Status status = check_path_exists(build / "dangling");
  EXPECT_EQ(status.code, Code::unavailable);
  EXPECT_EQ(status.text,
            "Path \"" + (build / "dangling").string() + "\": no such file or directory");
}

TEST_F(RunnerFiles, ALinkReplacesWhatIsNotFull) {
  file("file");
  fs::create_directory(build / "empty");
  fs::create_symlink("old", build / "link");
  for (const char* name : {"file", "empty", "link", "absent"}) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(link_temporary_directories({build / name}, "/target").ok());
    EXPECT_EQ(fs::read_symlink(build / name), "/target");
  }
  const Status status = link_temporary_directories({build / "1"}, "/target");
  EXPECT_EQ(status.code, Code::internal);
  EXPECT_THAT(status.text,
              StartsWith("Failed to remove symbolic link \"" + (build / "1").string() + "\": "));
}

TEST_F(RunnerFiles, TheLastLinkIsMadeFirst) {
  // The second can't be replaced: then the first, which would have been later, is as it was.
  const Status status = link_temporary_directories({build / "absent", build / "1"}, "/target");
  EXPECT_EQ(status.code, Code::internal);
  EXPECT_FALSE(fs::is_symlink(build / "absent"));
}

}  // namespace
}  // namespace plimsoll::daemon

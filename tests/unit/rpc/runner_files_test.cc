#include "rpc/runner_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tree.h"

namespace plimsoll::rpc {
namespace {

using testing::StartsWith;
namespace fs = std::filesystem;

using RunnerFiles = BuildTree;

TEST_F(RunnerFiles, TheFirstThatIsMissingIsTold) {
  fs::create_symlink("nowhere", build / "dangling");
  const std::string there = build / "1";
  EXPECT_TRUE(check_paths_exist({}).ok());
  EXPECT_TRUE(check_paths_exist({there}).ok());
  const Status status = check_paths_exist({there, build / "dangling", build / "gone"});
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

TEST_F(RunnerFiles, CleansAllButTheDirectoryAndWhatLinksLeadTo) {
  file("dirty/a/b/c");
  file("dirty/.hidden");
  file("kept/file");
  fs::create_directory_symlink(build / "kept", build / "dirty/link");
  fs::permissions(build / "dirty/a/b", fs::perms::none);
  EXPECT_TRUE(clean_directory(build / "dirty").ok());
  EXPECT_TRUE(fs::is_empty(build / "dirty"));
  EXPECT_TRUE(fs::exists(build / "kept/file"));
  const std::string gone = build / "gone";
  EXPECT_EQ(clean_directory(gone), (Status{Code::internal, "Failed to clean directory \"" + gone +
                                                               "\": no such file or directory"}));
}

}  // namespace
}  // namespace plimsoll::rpc

#include "daemon/runner/temporary_directory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "daemon/runner/tree_removal.h"
#include "unit/daemon/api/tree.h"

namespace plimsoll::daemon {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

struct TemporaryDirectoryTest : BuildTree {
  void SetUp() override {
    fs::create_directory(dirty);
    temporary.emplace(dirty);
  }

  Status clean() {
    FileTurn turn;
    return temporary->clean(turn);
  }

  // Directories one within the other, each with a file.
  void nest(unsigned depth) const {
    UniqueFd here(::open(dirty.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    for (unsigned i = 0; i < depth; ++i) {
      ASSERT_EQ(::mkdirat(here.get(), "d", 0755), 0);
      here = UniqueFd(::openat(here.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      ASSERT_TRUE(here);
      const UniqueFd made(::openat(here.get(), "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
      ASSERT_TRUE(made);
    }
  }

  const std::string dirty = build / "dirty";
  std::optional<TemporaryDirectory> temporary;
};

TEST_F(TemporaryDirectoryTest, CleansAllButTheDirectoryAndWhatLinksLeadTo) {
  file("dirty/a/b/c");
  file("dirty/.hidden");
  file("kept/file");
  fs::create_directory_symlink(build / "kept", build / "dirty/link");
  fs::permissions(build / "dirty/a/b", fs::perms::none);
  EXPECT_EQ(clean(), Status());
  EXPECT_TRUE(fs::is_empty(dirty));
  EXPECT_TRUE(fs::exists(build / "kept/file"));
}

TEST_F(TemporaryDirectoryTest, CleansATreeOfAnyDepth) {
  for (const unsigned depth : {600U, unsigned{kLevelsMax} + 700U}) {
    SCOPED_TRACE(depth);
    nest(depth);
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    const rlimit few{.rlim_cur = 64, .rlim_max = files.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
    EXPECT_EQ(clean(), Status());
    ::setrlimit(RLIMIT_NOFILE, &files);
    EXPECT_TRUE(fs::is_empty(dirty));
  }
}

TEST_F(TemporaryDirectoryTest, CleansWideTreesAndAnyName) {
  for (int i = 0; i < 100; ++i) file("dirty/" + std::to_string(i) + "/x/y");
  file("dirty/\xff\xfe/\x80\n\x1b[2J");
  file("dirty/" + std::string(255, 'x') + "/" + std::string(255, '\xc3'));
  EXPECT_EQ(clean(), Status());
  EXPECT_TRUE(fs::is_empty(dirty));
}

TEST_F(TemporaryDirectoryTest, OpensWhatIsClosedToItsOwner) {
  file("dirty/a/b/c");
  for (const char* path : {"dirty/a/b", "dirty/a", "dirty"}) {
    fs::permissions(build / path, fs::perms::none);
  }
  EXPECT_EQ(clean(), Status());
  EXPECT_TRUE(fs::is_empty(dirty));
}

TEST_F(TemporaryDirectoryTest, IsMadeAnewWhereItWasTakenAway) {
  ::chmod(dirty.c_str(), 01777);
  temporary.emplace(dirty);
  fs::remove(dirty);
  EXPECT_THAT(clean().text, HasSubstr("dirty\": no such file or directory; it was created again"));
  EXPECT_EQ(fs::status(dirty).permissions(), fs::perms(01777));
  EXPECT_EQ(clean(), Status());
}

TEST_F(TemporaryDirectoryTest, WhatIsInItsPlaceIsSetAside) {
  file("kept/file");
  for (unsigned i = 1; i <= TemporaryDirectory::kAsideMax; ++i) {
    fs::remove(dirty);
    fs::create_directory_symlink(build / "kept", dirty);
    EXPECT_THAT(clean().text,
                HasSubstr("it was renamed to \"" + dirty + ".unclean-" + std::to_string(i) + "\""));
    EXPECT_TRUE(fs::is_directory(fs::symlink_status(dirty)));
  }
  fs::remove(dirty);
  fs::create_directory_symlink(build / "kept", dirty);
  EXPECT_THAT(clean().text, HasSubstr("it could not be renamed"));
  EXPECT_TRUE(fs::exists(build / "kept/file"));
}

TEST_F(TemporaryDirectoryTest, WhatCantBeRemovedIsToldAndSetAside) {
  file("dirty/a/b/immutable");
  file("dirty/a/other");
  const auto flag = [this](const std::string& path, int flags) {
    const UniqueFd fd(::open((build / path).c_str(), O_RDONLY | O_CLOEXEC));
    return fd && ::ioctl(fd.get(), FS_IOC_SETFLAGS, &flags) == 0;
  };
  if (!flag("dirty/a/b/immutable", FS_IMMUTABLE_FL)) {
    GTEST_SKIP() << "no immutable file can be made here";
  }
  EXPECT_EQ(clean().text, "Failed to clean directory \"" + dirty +
                              "\": \"a/b/immutable\": operation not permitted; it was renamed "
                              "to \"" +
                              dirty + ".unclean-1\"");
  EXPECT_TRUE(fs::is_empty(dirty));
  EXPECT_FALSE(fs::exists(dirty + ".unclean-1/a/other"));
  EXPECT_EQ(clean(), Status());
  EXPECT_TRUE(flag("dirty.unclean-1/a/b/immutable", 0));
}

TEST_F(TemporaryDirectoryTest, StopsWhenItIsGivenUp) {
  file("dirty/a");
  FileTurn turn;
  turn.give_up();
  EXPECT_FALSE(temporary->clean(turn).ok());
  EXPECT_TRUE(fs::exists(dirty + "/a"));
}

TEST_F(TemporaryDirectoryTest, WhatNeverWasADirectoryIsLetBe) {
  file("plain");
  FileTurn turn;
  const Status status = TemporaryDirectory(build / "plain").clean(turn);
  EXPECT_THAT(status.text, HasSubstr("plain\": not a directory"));
  EXPECT_TRUE(fs::exists(build / "plain"));
}

}  // namespace
}  // namespace plimsoll::daemon

#include "store/runs/line_log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/file.h"

namespace plimsoll::report {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// A bound on the size of files stands for a full disk: a write falls short, then fails.
class FullDisk {
 public:
  explicit FullDisk(rlim_t size) : old_handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{.rlim_cur = size, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, old_handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  sighandler_t old_handler_;
};

struct LineLogTest : ::testing::Test {
  LineLogTest() {
    std::string name = (fs::temp_directory_path() / "plimsoll-lines-XXXXXX").string();
    dir = ::mkdtemp(name.data());
    path = (dir / "log").string();
  }
  ~LineLogTest() override { fs::remove_all(dir); }

  [[nodiscard]] std::string text() const { return *read_text_at(AT_FDCWD, path); }

  fs::path dir;
  std::string path;
};

TEST_F(LineLogTest, GoesOnWhereItEnded) {
  ASSERT_TRUE(LineLog::open(path)->append("one\n"));
  auto file = LineLog::open(path);
  ASSERT_TRUE(file);
  EXPECT_EQ(**file->size(), 4U);
  EXPECT_TRUE(file->append("two\n"));
  EXPECT_EQ(text(), "one\ntwo\n");
  EXPECT_TRUE(file->cut(4));
  EXPECT_TRUE(file->append("three\n"));
  EXPECT_EQ(text(), "one\nthree\n");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(LineLogTest, HasOneWriter) {
  {
    const auto file = LineLog::open(path);
    ASSERT_TRUE(file);
    const auto second = LineLog::open(path);
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().message(), HasSubstr("another run is writing " + path));
  }
  EXPECT_TRUE(LineLog::open(path));
  EXPECT_TRUE(LineLog::open("/dev/null") && LineLog::open("/dev/null"));
}

TEST_F(LineLogTest, LinesThatDidNotFitAreWrittenLaterInTheirOrder) {
  auto file = LineLog::open(path);
  ASSERT_TRUE(file && file->append("first\n"));
  {
    const FullDisk full(10);
    const auto second = file->append("second\n");
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().message(), HasSubstr(path));
    EXPECT_FALSE(file->append("3\n"));  // there is room for it, but not yet its turn
    EXPECT_EQ(text(), "first\n");
    EXPECT_EQ(file->unwritten(), 2U);
  }
  EXPECT_TRUE(file->append("fourth\n"));
  EXPECT_EQ(text(), "first\nsecond\n3\nfourth\n");
  EXPECT_EQ(file->unwritten(), 0U);
}

TEST_F(LineLogTest, KeepsNotMoreThanALimitOfThem) {
  auto file = LineLog::open(path);
  ASSERT_TRUE(file);
  const std::string long_line = std::string(30 << 20, 'x') + "\n";
  {
    const FullDisk full(10);
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(file->append(long_line));
  }
  EXPECT_EQ(file->unwritten(), 3U);
  EXPECT_TRUE(file->catch_up());
  EXPECT_EQ(file->unwritten(), 1U);
  EXPECT_EQ(**file->size(), 2 * long_line.size());
}

}  // namespace
}  // namespace plimsoll::report

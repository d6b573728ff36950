#include "daemon/runner/build_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/runner/quoted.h"
#include "unit/daemon/api/tree.h"

namespace plimsoll::daemon {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using std::string_literals::operator""s;

using BuildDirectoryTest = BuildTree;

struct Checked {
  std::string path;
  const char* prefix;  // of the error; null: there
};

TEST_F(BuildDirectoryTest, TellsWhatIsThere) {
  file("1/file");
  std::filesystem::create_symlink("nowhere", build / "1/dangling");
  std::filesystem::create_directory_symlink("root", build / "1/link");
  constexpr const char* kMissing = "Failed to check existence of path ";
  constexpr const char* kLost = "Failed to resolve path ";
  const Checked cases[] = {{"", nullptr},
                           {".", nullptr},
                           {"1", nullptr},
                           {"1/", nullptr},
                           {"1/.", nullptr},
                           {"1//root", nullptr},
                           {"./1/root/../file", nullptr},
                           {"1/..", nullptr},
                           {"1/dangling", nullptr},
                           {"1/link", nullptr},
                           {"1/gone", kMissing},
                           {"gone", kMissing},
                           {"gone/", kLost},
                           {"gone/x", kLost},
                           {"1/file/", kLost},
                           {"1/link/x", kLost},
                           {"1/dangling/", kLost},
                           {"..", kLost},
                           {"1/../../x", kLost},
                           {"/etc", kLost},
                           {"1/a\0b"s, kLost}};
  for (const Checked& check : cases) {
    SCOPED_TRACE(check.path);
    const Status status = BuildDirectory(build).check(check.path);
    if (check.prefix == nullptr) {
      EXPECT_EQ(status, Status{}) << status.text;
      continue;
    }
    EXPECT_EQ(status.code, Code::internal);
    EXPECT_THAT(status.text,
                StartsWith(check.prefix + go_quoted(check.path) + " in build directory: "));
  }
}

TEST_F(BuildDirectoryTest, IsOpenedAnewAndNotThroughALink) {
  const BuildDirectory linked(build / "link");
  EXPECT_EQ(linked.check("").code, Code::internal);
  std::filesystem::create_directory_symlink("1", build / "link");
  EXPECT_EQ(linked.check("").code, Code::internal);
  std::filesystem::remove(build / "link");
  std::filesystem::create_directory(build / "link");
  EXPECT_TRUE(linked.check("").ok());
}

struct Refused {
  std::string path;
  Code code;
  const char* why;
};

TEST_F(BuildDirectoryTest, MakesLogsOnlyWhereNothingIs) {
  file("1/there");
  std::filesystem::create_symlink("nowhere", build / "1/dangling");
  std::filesystem::create_directory_symlink("root", build / "1/link");
  constexpr const char* kOutside = ": Path resolves to a location outside the build directory";
  const Refused cases[] = {{"1/there", Code::unknown, ": file exists"},
                           {"1/dangling", Code::unknown, ": file exists"},
                           {"gone/out", Code::unknown, ": no such file or directory"},
                           {"1/link/out", Code::unknown, ": not a directory"},
                           {"../out", Code::invalid_argument, kOutside},
                           {"1/../../out", Code::invalid_argument, kOutside},
                           {"/out", Code::invalid_argument, ": Path is absolute"},
                           {"", Code::invalid_argument, ": Path resolves to a directory"},
                           {"1/root/", Code::invalid_argument, ": Path resolves to a directory"},
                           {"1/a\0b"s, Code::invalid_argument, ": Path contains a null byte"}};
  for (const Refused& refused : cases) {
    SCOPED_TRACE(refused.path);
    const auto made = BuildDirectory(build).make_log("stdout", refused.path, {});
    EXPECT_FALSE(made.file);
    EXPECT_EQ(made.status.code, refused.code);
    EXPECT_THAT(made.status.text,
                StartsWith("Failed to open stdout path " + go_quoted(refused.path) + refused.why));
  }
}

TEST_F(BuildDirectoryTest, LogsHaveTheModeOfTheSettings) {
  const mode_t before = ::umask(022);
  const BuildDirectory directory(build);
  ASSERT_TRUE(directory.make_log("stdout", "1/inherited", {}).file);
  ASSERT_TRUE(directory.make_log("stdout", "1/open", 0).file);
  ASSERT_TRUE(directory.make_log("stdout", "1/closed", 077).file);
  ::umask(before);
  const auto mode = [this](const char* name) {
    return static_cast<unsigned>(std::filesystem::status(build / "1" / name).permissions());
  };
  EXPECT_EQ(mode("inherited"), 0644u);
  EXPECT_EQ(mode("open"), 0666u);
  EXPECT_EQ(mode("closed"), 0600u);
}

TEST_F(BuildDirectoryTest, WritesAReportOnce) {
  const BuildDirectory directory(build);
  EXPECT_TRUE(directory.write_file("1/server_logs", "r.txt", "text\n").ok());
  EXPECT_EQ(std::filesystem::file_size(build / "1/server_logs/r.txt"), 5u);
  EXPECT_FALSE(directory.write_file("1/server_logs", "r.txt", "text\n").ok());
  EXPECT_FALSE(directory.write_file("../x", "r.txt", "text\n").ok());
}

}  // namespace
}  // namespace plimsoll::daemon

#include "report/writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"

namespace plimsoll::report {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

struct OutputFileTest : ::testing::Test {
  OutputFileTest() {
    std::string name = (fs::temp_directory_path() / "plimsoll-writer-XXXXXX").string();
    dir = ::mkdtemp(name.data());
  }
  ~OutputFileTest() override { fs::remove_all(dir); }

  [[nodiscard]] std::string path(const std::string& name) const { return (dir / name).string(); }
  [[nodiscard]] std::string text(const std::string& name) const {
    return read_text_at(AT_FDCWD, path(name)).value_or("<not there>");
  }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(dir)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  void make(const std::string& name, const std::string& content) const {
    std::ofstream(dir / name) << content;
  }

  fs::path dir;
};

TEST_F(OutputFileTest, ShowsUpWhole) {
  make("out", "old");
  auto file = OutputFile::create(path("out"), Unfinished::remove);
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->append("one\n"));
  EXPECT_TRUE(file->append("two\n"));
  EXPECT_EQ(text("out"), "old");
  EXPECT_TRUE(file->finish());
  EXPECT_EQ(text("out"), "one\ntwo\n");
  EXPECT_THAT(files(), ElementsAre("out"));
}

TEST_F(OutputFileTest, UnfinishedLeavesTheTargetAlone) {
  make("out", "old");
  {
    auto file = OutputFile::create(path("out"), Unfinished::remove);
    ASSERT_TRUE(file && file->append("new"));
  }
  EXPECT_EQ(text("out"), "old");
  EXPECT_THAT(files(), ElementsAre("out"));
}

TEST_F(OutputFileTest, KeepsWhatItHasIfToldSo) {
  std::string temporary;
  {
    auto file = OutputFile::create(path("out"), Unfinished::keep);
    ASSERT_TRUE(file && file->append("line\n"));
    const std::string kept = file->kept_text();
    ASSERT_THAT(kept, StartsWith("; what was written is in " + dir.string()));
    temporary = fs::path(kept).filename();
  }
  EXPECT_THAT(files(), ElementsAre(temporary));
  EXPECT_THAT(temporary, StartsWith("out."));
  EXPECT_TRUE(temporary.ends_with(".tmp"));
  EXPECT_EQ(text(temporary), "line\n");
}

TEST_F(OutputFileTest, ADeathBetweenLeavesTheTemporaryFileAndTheTarget) {
  make("out", "old");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto file = OutputFile::create(path("out"), Unfinished::remove);
    if (file && file->append("line\n")) ::kill(::getpid(), SIGKILL);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(text("out"), "old");
  EXPECT_EQ(text("out." + std::to_string(child) + ".tmp"), "line\n");
}

TEST_F(OutputFileTest, FindsAnotherNameBesideOneLeftBehind) {
  const std::string left = "out." + std::to_string(::getpid()) + ".tmp";
  make(left, "of an earlier process");
  EXPECT_TRUE(write_file(path("out"), "new"));
  EXPECT_EQ(text("out"), "new");
  EXPECT_EQ(text(left), "of an earlier process");
}

TEST_F(OutputFileTest, KeepsPermissionsAndLinks) {
  constexpr auto kShared = fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read;
  make("real", "old");
  fs::permissions(dir / "real", kShared);
  fs::create_symlink("real", dir / "link");
  EXPECT_TRUE(write_file(path("link"), "new"));
  EXPECT_EQ(text("real"), "new");
  EXPECT_TRUE(fs::is_symlink(dir / "link"));
  EXPECT_EQ(fs::status(dir / "real").permissions(), kShared);
}

// He may have made it where the report was to be, so that he can read that.
TEST_F(OutputFileTest, TakesNoPermissionsFromAFileOfSomebodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make files of somebody else";
  constexpr uid_t kNobody = 65534;
  make("out", "old");
  ASSERT_EQ(::chown(path("out").c_str(), kNobody, kNobody), 0);
  ASSERT_EQ(::chmod(path("out").c_str(), 0666), 0);
  EXPECT_TRUE(write_file(path("out"), "new"));
  EXPECT_EQ(text("out"), "new");
  EXPECT_EQ(fs::status(dir / "out").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(OutputFileTest, KeepsNoFileThatHasNothing) {
  {
    auto file = OutputFile::create(path("out"), Unfinished::keep);
    ASSERT_TRUE(file);
    EXPECT_EQ(file->kept_text(), "");
  }
  EXPECT_THAT(files(), IsEmpty());
}

// Whatever fs.protected_symlinks is: who resolves links by himself has to look for himself.
TEST_F(OutputFileTest, FollowsNobodyElsesLinkOutOfADirectoryForAll) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make links of somebody else";
  constexpr uid_t kNobody = 65534;
  make("precious", "old");
  fs::create_directory(dir / "tmp");
  fs::create_symlink(dir / "precious", dir / "tmp" / "link");
  ASSERT_EQ(::lchown(path("tmp/link").c_str(), kNobody, kNobody), 0);
  ASSERT_EQ(::chmod(path("tmp").c_str(), 01777), 0);
  const auto wrote = write_file(path("tmp/link"), "new");
  ASSERT_FALSE(wrote);
  EXPECT_EQ(wrote.error().code, std::errc::permission_denied);
  EXPECT_EQ(text("precious"), "old");
  // In a directory of one's own it is there because one wants it.
  ASSERT_EQ(::chmod(path("tmp").c_str(), 0755), 0);
  EXPECT_TRUE(write_file(path("tmp/link"), "new"));
  EXPECT_EQ(text("precious"), "new");
}

TEST_F(OutputFileTest, WritesDirectlyToWhatIsNoRegularFile) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const UniqueFd reader(::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  EXPECT_TRUE(write_file(path("pipe"), "text"));
  char got[8] = {};
  EXPECT_EQ(::read(reader.get(), got, sizeof got), 4);
  EXPECT_STREQ(got, "text");
  EXPECT_TRUE(fs::is_fifo(dir / "pipe"));
  EXPECT_THAT(files(), ElementsAre("pipe"));
}

TEST_F(OutputFileTest, WritesOntoADescriptor) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd reader(ends[0]);
  auto file = OutputFile::onto(UniqueFd(ends[1]), "standard output");
  EXPECT_TRUE(file.append("text"));
  EXPECT_TRUE(file.finish());
  char got[8] = {};
  EXPECT_EQ(::read(reader.get(), got, sizeof got), 4);
}

TEST_F(OutputFileTest, ErrorsNameTheFile) {
  auto missing = write_file(path("no/such"), "text");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message(), HasSubstr("no/such"));
  auto directory = write_file(dir.string(), "text");
  ASSERT_FALSE(directory);
  EXPECT_THAT(directory.error().message(), HasSubstr(dir.string()));
  auto full = write_file("/dev/full", "text");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, std::errc::no_space_on_device);
  EXPECT_THAT(full.error().message(), HasSubstr("/dev/full"));
  EXPECT_THAT(files(), IsEmpty());
}

// A bound on the size of files stands for a full disk: the write of a line falls short, then fails.
TEST_F(OutputFileTest, AFullDiskCutsNoLineInHalf) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* const old_handler = ::signal(SIGXFSZ, SIG_IGN);
  auto file = OutputFile::create(path("out"), Unfinished::keep);
  ASSERT_TRUE(file && file->append("first\n"));
  const rlimit small{.rlim_cur = 10, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto second = file->append("second line\n");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, old_handler);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message(), HasSubstr("out"));
  EXPECT_TRUE(file->append("third\n"));
  EXPECT_TRUE(file->finish());
  EXPECT_EQ(text("out"), "first\nthird\n");
}

}  // namespace
}  // namespace plimsoll::report

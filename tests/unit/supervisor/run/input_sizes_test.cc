#include "supervisor/run/input_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace plimsoll::supervisor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> shell(std::string text) {
  return words_that_may_be_inputs(policy::Command(std::move(text)));
}
std::vector<std::string> words(std::vector<std::string> argv) {
  return words_that_may_be_inputs(policy::Command(std::move(argv)));
}

TEST(InputWords, OfAnArgumentVector) {
  EXPECT_THAT(words({"xz", "-9", "a b"}), ElementsAre("a b"));
  EXPECT_THAT(words({"cc", "-c", "a.c", "-o", "a.o", "b.c", "a.c"}), ElementsAre("a.c", "b.c"));
  EXPECT_THAT(words({"sort", "--output", "out", "in"}), ElementsAre("in"));
  EXPECT_THAT(words({"tool"}), IsEmpty());
  EXPECT_THAT(words({}), IsEmpty());
}

TEST(InputWords, OfShellText) {
  EXPECT_THAT(shell("xz -9 one two"), ElementsAre("one", "two"));
  EXPECT_THAT(shell("sort < in > out 2>>log"), ElementsAre("in", "2"));
  EXPECT_THAT(shell("cat 'a b' \"c d\" e\\ f"), ElementsAre("a b", "c d", "e f"));
  EXPECT_THAT(shell("cat \"$HOME/x\" *.c `ls` '$y'"), ElementsAre("$y"));
  EXPECT_THAT(shell("cat a | sort b && tool c; other d"), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(shell("tool << END"), IsEmpty());
  EXPECT_THAT(shell("tool 'not closed"), ElementsAre("not closed"));
  EXPECT_THAT(shell("tool a\\"), ElementsAre("a"));
  EXPECT_THAT(shell(""), IsEmpty());
}

TEST(InputWords, AreBounded) {
  std::string text = "cat";
  for (int i = 0; i < 1000; ++i) text += " f" + std::to_string(i);
  EXPECT_THAT(shell(text), SizeIs(kInputsPerJobMax));
}

TEST(InputMounts, ThatMayBlock) {
  EXPECT_THAT(mounts_that_may_block("22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
                                    "23 22 0:5 / /proc rw - proc proc rw\n"
                                    "24 23 0:9 / /proc/sys/fs/binfmt_misc rw - autofs none rw\n"
                                    "25 22 0:20 / /tmp rw shared:3 - tmpfs tmpfs rw\n"
                                    "30 22 0:50 / /home rw shared:9 - nfs4 host:/home rw\n"
                                    "31 22 0:51 / /mnt/a\\040b rw - fuse.sshfs me@host: rw\n"
                                    "a line of another form\n"),
              ElementsAre("/home", "/mnt/a b"));
  EXPECT_THAT(mounts_that_may_block(""), IsEmpty());
}

TEST(InputSize, IsRoundedToSteps) {
  EXPECT_EQ(rounded_size(Bytes{0}), Bytes{0});
  EXPECT_EQ(rounded_size(Bytes{1}), Bytes{1});
  EXPECT_EQ(rounded_size(Bytes{1024}), Bytes{1024});
  EXPECT_EQ(rounded_size(Bytes{1'000'000}), rounded_size(Bytes{1'050'000}));
  EXPECT_NE(rounded_size(Bytes{1'000'000}), rounded_size(Bytes{1'400'000}));
}

class InputFiles : public ::testing::Test {
 protected:
  InputFiles() {
    std::string name = (std::filesystem::temp_directory_path() / "inputs-XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
    write("one", 1024);
    write("two", 3072);
    std::filesystem::create_directory(directory_ / "folder");
  }
  ~InputFiles() override { std::filesystem::remove_all(directory_); }

  void write(const std::string& name, std::size_t size) const {
    std::ofstream(directory_ / name) << std::string(size, 'x');
  }
  [[nodiscard]] policy::JobSpec job(policy::Command command) const {
    policy::JobSpec job;
    job.command = std::move(command);
    job.cwd = directory_.string();
    return job;
  }

  std::filesystem::path directory_;
};

TEST_F(InputFiles, SizesAreAdded) {
  InputSizes sizes;
  EXPECT_EQ(sizes.of(job("cat one two")), Bytes{4096});
  EXPECT_EQ(sizes.of(job("cat one one")), Bytes{1024});
  EXPECT_EQ(sizes.of(job(std::vector<std::string>{"cat", (directory_ / "one").string()})),
            Bytes{1024});
}

TEST_F(InputFiles, WhatIsNoFileIsNotZero) {
  InputSizes sizes;
  EXPECT_EQ(sizes.of(job("cat nowhere folder /dev/null /proc/self/cgroup")), std::nullopt);
  EXPECT_EQ(sizes.of(job("true")), std::nullopt);
  write("empty", 0);
  EXPECT_EQ(sizes.of(job("cat empty")), Bytes{0});
}

TEST_F(InputFiles, SoManyLooksAndNoMore) {
  InputSizes sizes;
  std::string all = "cat";
  for (std::size_t i = 0; i < kInputsPerJobMax; ++i) all += " nowhere" + std::to_string(i);
  const policy::JobSpec many = job(all);
  for (std::size_t i = 0; i <= kInputsMax / kInputsPerJobMax; ++i) {
    [[maybe_unused]] const auto ignored = sizes.of(many);
  }
  EXPECT_EQ(sizes.of(job("cat one")), std::nullopt);
}

}  // namespace
}  // namespace plimsoll::supervisor

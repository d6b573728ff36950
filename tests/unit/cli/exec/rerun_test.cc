#include "cli/exec/command_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace plimsoll::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Command = std::vector<std::string>;

TEST(RerunTest, CompilersAssemblersAndLinkersCanBeRunAgain) {
  for (const Command& command :
       {Command{"gcc", "-c", "a.c"}, Command{"/usr/bin/x86_64-linux-gnu-g++-12", "a.o", "-o", "a"},
        Command{"clang++-19", "-c", "a.cc"}, Command{"ld.gold", "a.o"}, Command{"as", "a.s"},
        Command{"rustc", "--crate-name", "a", "src/main.rs"}}) {
    EXPECT_TRUE(can_run_again(command)) << command[0];
  }
  for (const Command& command :
       {Command{"ar", "rcs", "a.a", "a.o"}, Command{"sh", "-c", "gcc a.c"},
        Command{"gcc", "-x", "c", "-"}, Command{"as", "/dev/stdin"}, Command{"gcc-wrapper", "a.c"},
        Command{"pytest"}, Command{"12"}, Command{""}}) {
    EXPECT_FALSE(can_run_again(command)) << command[0];
  }
}

TEST(RerunTest, OutputsAreWhatTheOptionsName) {
  EXPECT_THAT(outputs_of({"gcc", "-MD", "-MF", "a.d", "-c", "a.c", "-o", "a.o"}),
              ElementsAre("a.d", "a.o"));
  EXPECT_THAT(outputs_of({"gcc", "-oa.o", "-MFa.d"}), ElementsAre("a.o", "a.d"));
  EXPECT_THAT(outputs_of({"gcc", "-o"}), IsEmpty());
  EXPECT_THAT(outputs_of({"-o", "x"}), IsEmpty()) << "the first word is the program";
}

TEST(RerunTest, WhatAnAttemptHasMadeIsDeletedAndNothingElse) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "rerun_test";
  std::filesystem::create_directories(folder / "directory");
  const auto write = [&](const char* name) { std::ofstream(folder / name) << "x"; };
  write("old.o");
  const NewOutputs outputs({"gcc", "-o", folder / "old.o", "-o", folder / "new.o", "-o",
                            folder / "never.o", "-o", folder / "made"});
  write("new.o");
  write("other.o");
  std::filesystem::create_directories(folder / "made");
  outputs.remove();
  EXPECT_TRUE(std::filesystem::exists(folder / "old.o"));
  EXPECT_FALSE(std::filesystem::exists(folder / "new.o"));
  EXPECT_TRUE(std::filesystem::exists(folder / "other.o"));
  EXPECT_TRUE(std::filesystem::exists(folder / "made"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace plimsoll::cli

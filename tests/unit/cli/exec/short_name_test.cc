#include "cli/exec/short_name.h"

#include <gtest/gtest.h>

#include <string>

namespace plimsoll::cli {
namespace {

TEST(ShortName, IsTheProgramOrTheTextThatAShellRuns) {
  EXPECT_EQ(short_name({"/usr/bin/g++", "-c", "a.cc"}), "g++");
  EXPECT_EQ(short_name({"/bin/sh", "-c", "make -j8; ./check", "name"}), "\"make -j8; ./check\"");
  EXPECT_EQ(short_name({"bash", "-lc", "cargo build"}), "\"cargo build\"");
  EXPECT_EQ(short_name({"bash", "-euo", "pipefail", "-c", "make"}), "\"make\"");
  EXPECT_EQ(short_name({"bash", "--norc", "-c", "make", "name"}), "\"make\"");
  EXPECT_EQ(short_name({"bash", "-c"}), "bash");
  EXPECT_EQ(short_name({"bash", "-c", ""}), "bash");
  EXPECT_EQ(short_name({"bash", "-e", "run.sh", "-c"}), "bash");
  EXPECT_EQ(short_name({"bash", "run.sh", "all"}), "bash");
  EXPECT_EQ(short_name({"bash", "--rc", "x"}), "bash");
}

TEST(ShortName, CanNeitherBreakTheLineNorFillTheScreen) {
  EXPECT_EQ(short_name({"sh", "-c", "a\nb\x1b[2J"}), "\"a b?[2J\"");
  EXPECT_EQ(short_name({"sh", "-c", std::string(200, 'x')}), '"' + std::string(58, 'x') + "..\"");
}

}  // namespace
}  // namespace plimsoll::cli

#include "jobfile/closest.h"

#include <gtest/gtest.h>

#include <array>

namespace plimsoll::jobfile {
namespace {

constexpr auto kCommands = std::to_array<std::string_view>(
    {"run", "batch", "reap", "runs", "explain", "--help", "--version"});

TEST(Closest, SwappedLettersAreOneMistake) {
  EXPECT_EQ(closest("rnu", kCommands), "run");
  EXPECT_EQ(closest("btach", kCommands), "batch");
  EXPECT_EQ(closest("--verison", kCommands), "--version");
  // "ca" from "abc" takes three: what was swapped is not changed again.
  EXPECT_EQ(closest("ca", std::to_array<std::string_view>({"abc"})), std::nullopt);
}

TEST(Closest, LettersLeftOutPutInAndReplaced) {
  EXPECT_EQ(closest("explan", kCommands), "explain");
  EXPECT_EQ(closest("reaps", kCommands), "reap");
  EXPECT_EQ(closest("botch", kCommands), "batch");
}

TEST(Closest, OfALongWordMoreLettersMayDiffer) {
  constexpr auto kNames = std::to_array<std::string_view>({"io-max", "memory-max"});
  EXPECT_EQ(closest("memmax", kNames), "memory-max");
}

TEST(Closest, NothingWhereMoreThanHalfDiffers) {
  EXPECT_EQ(closest("frobnicate", kCommands), std::nullopt);
  EXPECT_EQ(closest("", kCommands), std::nullopt);
}

}  // namespace
}  // namespace plimsoll::jobfile

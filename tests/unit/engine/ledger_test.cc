#include "engine/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace plimsoll::engine {
namespace {

using namespace plimsoll::literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class LedgerTest : public ::testing::Test {
 protected:
  LedgerTest() {
    std::string name = ::testing::TempDir() + "ledgerXXXXXX";
    directory_ = std::string(::mkdtemp(name.data())) + "/plimsoll/ledger";
  }
  ~LedgerTest() override { std::filesystem::remove_all(directory_.parent_path().parent_path()); }

  std::filesystem::path directory_;
};

TEST_F(LedgerTest, RunsReadWhatTheOthersTell) {
  auto a = Ledger::join(directory_, "a");
  auto b = Ledger::join(directory_, "b");
  ASSERT_TRUE(a && b);
  ASSERT_TRUE(a->tell({.used = 1_GiB, .claimed = 2_GiB, .wanting = true, .running = 7}));
  const auto seen = b->others();
  ASSERT_THAT(seen, SizeIs(1));
  EXPECT_EQ(seen[0].used, 1_GiB);
  EXPECT_EQ(seen[0].claimed, 2_GiB);
  EXPECT_TRUE(seen[0].wanting);
  EXPECT_EQ(seen[0].running, 7U);
}

TEST_F(LedgerTest, ARunThatEndedIsNotThere) {
  auto a = Ledger::join(directory_, "a");
  {
    auto b = Ledger::join(directory_, "b");
  }
  EXPECT_THAT(a->others(), IsEmpty());
}

TEST_F(LedgerTest, WhatADeadRunLeftIsRemoved) {
  auto a = Ledger::join(directory_, "a");
  std::ofstream(directory_ / "dead") << encode({.used = 8_GiB});
  EXPECT_THAT(a->others(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(directory_ / "dead"));
}

TEST_F(LedgerTest, NobodyElseMayLookIn) {
  auto a = Ledger::join(directory_, "a");
  ASSERT_TRUE(a);
  EXPECT_EQ(std::filesystem::status(directory_).permissions(), std::filesystem::perms::owner_all);
}

TEST(LedgerLine, BadTextIsNoClaim) {
  for (const char* text : {"", "1", "1 2 3", "1 2 2 3", "-1 2 0 3", "1 2 0 x", "1 2 0"}) {
    EXPECT_FALSE(decode_claim(text)) << text;
  }
  EXPECT_EQ(encode({.used = {~0ULL}, .claimed = {~0ULL}, .wanting = true, .running = 99}).size(),
            64U);
}

}  // namespace
}  // namespace plimsoll::engine

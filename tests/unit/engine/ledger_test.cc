#include "engine/ledger.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"

namespace plimsoll::engine {
namespace {

using namespace plimsoll::literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class LedgerTest : public ::testing::Test {
 protected:
  LedgerTest() {
    std::string name = ::testing::TempDir() + "ledgerXXXXXX";
    directory_ = ::mkdtemp(name.data());
  }
  ~LedgerTest() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] Result<Ledger> join(const std::string& run) const {
    return Ledger::join(open_at(AT_FDCWD, directory_, O_RDONLY | O_DIRECTORY), run);
  }

  std::filesystem::path directory_;
};

TEST_F(LedgerTest, RunsReadWhatTheOthersTell) {
  auto a = join("a");
  auto b = join("b");
  ASSERT_TRUE(a && b);
  ASSERT_TRUE(a->tell({.claim = {.memory = {.used = 1_GiB, .claimed = 2_GiB, .wanting = true},
                                 .starting = 3_MiB,
                                 .cores = {.used = 1.25, .claimed = 3, .wanting = false},
                                 .running = 7},
                       .terms = policy::Share{.line = 8_GiB, .cores = 2.5}}));
  const auto seen = b->others();
  ASSERT_THAT(seen, SizeIs(1));
  const policy::RunClaim& claim = seen[0].claim;
  EXPECT_EQ(claim.memory.used, 1_GiB);
  EXPECT_EQ(claim.memory.claimed, 2_GiB);
  EXPECT_TRUE(claim.memory.wanting);
  EXPECT_EQ(claim.starting, 3_MiB);
  EXPECT_EQ(claim.cores.used, 1.25);
  EXPECT_EQ(claim.cores.claimed, 3);
  EXPECT_FALSE(claim.cores.wanting);
  EXPECT_EQ(claim.running, 7U);
  ASSERT_TRUE(seen[0].terms);
  EXPECT_EQ(seen[0].terms->line, 8_GiB);
  EXPECT_EQ(seen[0].terms->cores, 2.5);
}

TEST_F(LedgerTest, ARunThatEndedIsNotThere) {
  auto a = join("a");
  {
    auto b = join("b");
  }
  EXPECT_THAT(a->others(), IsEmpty());
}

TEST_F(LedgerTest, WhatADeadRunLeftIsRemoved) {
  auto a = join("a");
  std::ofstream(directory_ / "dead") << encode({.claim = {.memory = {.used = 8_GiB}, .cores = {}}});
  EXPECT_THAT(a->others(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(directory_ / "dead"));
}

TEST_F(LedgerTest, ADirectoryThatCantBeHadIsTheError) {
  EXPECT_FALSE(Ledger::join(tl::unexpected(Error{.what = "no directory"}), "a"));
}

TEST_F(LedgerTest, ATakenNameIsAnError) {
  auto a = join("a");
  EXPECT_FALSE(join("a"));
}

TEST_F(LedgerTest, WhatIsNoFileOfARunIsPassedOver) {
  auto a = join("a");
  ASSERT_EQ(::mkfifo((directory_ / "fifo").c_str(), 0600), 0);
  std::filesystem::create_directory(directory_ / "directory");
  std::filesystem::create_symlink("/etc/passwd", directory_ / "link");
  EXPECT_THAT(a->others(), IsEmpty());
}

TEST_F(LedgerTest, ALiveRunThatTellsNonsenseCountsWithNothing) {
  auto a = join("a");
  auto b = join("b");
  std::ofstream(directory_ / "b") << std::string(1 << 20, '9');
  const auto seen = a->others();
  ASSERT_THAT(seen, SizeIs(1));
  EXPECT_EQ(seen[0].claim.memory.used, Bytes{});
}

TEST(LedgerLine, BadTextIsNoEntry) {
  for (const char* text : {"", "1", "1 2 0 4 5 6 0", "1 2 2 4 5 6 0 7", "1 2 0 4 5 6 2 7",
                           "-1 2 0 4 5 6 0 7", "1 2 0 4 5 6 0 7 8", "1 2 0 4 5 6 0 7 0 9",
                           "1 2 0 4 5 6 0 7 8 0", "1 2 0 4 5 6 0 7 8 9 1"}) {
    EXPECT_FALSE(decode_entry(text)) << text;
  }
  EXPECT_TRUE(decode_entry("1 2 0 4 5 6 0 7"));
  EXPECT_TRUE(decode_entry("1 2 0 4 5 6 0 7 8 9"));
}

TEST(LedgerLine, HasOneSize) {
  const std::size_t size = encode({}).size();
  const policy::RunClaim most{.memory = {{~0ULL}, {~0ULL}, true},
                              .starting = {~0ULL},
                              .cores = {1e300, 1e300, true},
                              .running = ~std::size_t{}};
  EXPECT_EQ(encode({.claim = most, .terms = policy::Share{{~0ULL}, 1e300}}).size(), size);
}

}  // namespace
}  // namespace plimsoll::engine

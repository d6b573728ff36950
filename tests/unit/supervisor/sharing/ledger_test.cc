#include "supervisor/sharing/ledger.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"

namespace plimsoll::supervisor {
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

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  // More of what is no file of a run than is read in a look; by how many.
  std::size_t leave_links() const {
    constexpr std::size_t kBeyond = 200;
    for (std::size_t i = 0; i < Ledger::kNamesMax + kBeyond; ++i) {
      std::filesystem::create_symlink("x", directory_ / std::to_string(i));
    }
    return kBeyond;
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
                                 .running = 7,
                                 .unsettled = 5},
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
  EXPECT_EQ(claim.unsettled, 5U);
  ASSERT_TRUE(seen[0].terms);
  EXPECT_EQ(seen[0].terms->line, 8_GiB);
  EXPECT_EQ(seen[0].terms->cores, 2.5);
}

// As one that was stopped just when its jobs began.
TEST_F(LedgerTest, WhatWasToldLongAgoIsAboutToBeginNoMore) {
  auto a = join("a");
  auto b = join("b");
  ASSERT_TRUE(a && b);
  const auto told = [&] { return b->others().at(0).claim; };
  ASSERT_TRUE(a->tell(
      {.claim = {.memory = {.used = 1_GiB}, .starting = 2_GiB, .cores = {}, .unsettled = 4}}));
  EXPECT_EQ(told().starting, 2_GiB);
  EXPECT_EQ(told().unsettled, 4U);
  std::filesystem::last_write_time(
      directory_ / "a", std::filesystem::file_time_type::clock::now() - 2 * Ledger::kFresh);
  EXPECT_EQ(told().memory.used, 1_GiB);
  EXPECT_EQ(told().starting, Bytes{});
  EXPECT_EQ(told().unsettled, 0U);
}

TEST_F(LedgerTest, WhoRingsIsHeardByTheOthers) {
  auto a = join("a");
  auto b = join("b");
  ASSERT_TRUE(a && b);
  auto of_a = a->bell(), of_b = b->bell();
  ASSERT_TRUE(of_a) << of_a.error().message();
  ASSERT_TRUE(of_b);
  ASSERT_TRUE(a->tell({}));
  EXPECT_FALSE(of_b->has_rung());  // what is told by and by is read by and by
  ASSERT_TRUE(a->ring());
  EXPECT_TRUE(of_b->has_rung());
  EXPECT_FALSE(of_b->has_rung());
  EXPECT_FALSE(of_a->has_rung());
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
  EXPECT_THAT(names(), SizeIs(1));  // and removed
}

// As many as a stranger likes: some in a look, and the run that comes after them in the end.
TEST_F(LedgerTest, ALookReadsSoManyNames) {
  auto a = join("a");
  const auto full = directory_ / "full";  // that it can't remove
  std::filesystem::create_directory(full);
  std::filesystem::create_symlink("x", full / "x");
  const std::size_t beyond = leave_links();
  auto b = join("b");
  [[maybe_unused]] const auto first = a->others();
  EXPECT_GE(names().size(), beyond);
  for (int looks = 0; looks < 3; ++looks) {
    [[maybe_unused]] const auto more = a->others();
  }
  EXPECT_THAT(a->others(), SizeIs(1));
  EXPECT_THAT(names(), SizeIs(3));
}

TEST_F(LedgerTest, WhoIsKnownIsReadHoweverManyNamesCome) {
  auto a = join("a");
  auto b = join("b");
  EXPECT_THAT(a->others(), SizeIs(1));
  leave_links();
  EXPECT_THAT(a->others(), SizeIs(1));
  EXPECT_THAT(a->others(), SizeIs(1));
}

// Who may only read a file can hold a shared lock of it, and flock(2) even an exclusive one.
TEST_F(LedgerTest, NobodyElseKeepsADeadRunAlive) {
  auto a = join("a");
  std::ofstream(directory_ / "dead") << encode({.claim = {.memory = {.used = 8_GiB}, .cores = {}}});
  const auto held = open_at(AT_FDCWD, directory_ / "dead", O_RDONLY);
  ASSERT_TRUE(held);
  ASSERT_EQ(::flock(held->get(), LOCK_EX | LOCK_NB), 0);
  struct flock shared{};
  shared.l_type = F_RDLCK;
  ASSERT_EQ(::fcntl(held->get(), F_OFD_SETLK, &shared), 0);
  EXPECT_THAT(a->others(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(directory_ / "dead"));
}

TEST_F(LedgerTest, ARunWithTwoNamesIsOne) {
  auto a = join("a");
  auto b = join("b");
  std::filesystem::create_hard_link(directory_ / "b", directory_ / "alias");
  EXPECT_THAT(a->others(), SizeIs(1));
  EXPECT_THAT(a->others(), SizeIs(1));
}

// Whoever may write a file of somebody else's can give it a name here.
TEST_F(LedgerTest, AFileThatOthersMayWriteIsNobodysWord) {
  auto a = join("a");
  for (const mode_t mode : {0666U, 0620U}) {
    auto b = join("b");
    EXPECT_THAT(a->others(), SizeIs(1));
    ASSERT_EQ(::chmod((directory_ / "b").c_str(), mode), 0);
    EXPECT_THAT(a->others(), IsEmpty());
    EXPECT_FALSE(std::filesystem::exists(directory_ / "b"));
  }
}

LedgerEntry entry_of(uid_t user, Bytes used) {
  return {.claim = {.memory = {.used = used, .claimed = used}, .cores = {}, .running = 1},
          .user = user};
}

TEST(BesideOf, OwnRunsAndRootsAreBelievedAndOtherUsersTellTogether) {
  constexpr uid_t kSelf = 1000, kAlice = 1001, kBob = 1002;
  const policy::Beside beside =
      beside_of({entry_of(0, 1_GiB), entry_of(kAlice, 2_GiB), entry_of(kSelf, 3_GiB),
                 entry_of(kBob, {~0ULL}), entry_of(kAlice, 4_GiB), entry_of(kBob, {~0ULL})},
                kSelf);
  ASSERT_THAT(beside.believed, SizeIs(2));
  EXPECT_EQ(beside.believed[0].memory.used, 1_GiB);
  EXPECT_EQ(beside.believed[1].memory.used, 3_GiB);
  EXPECT_EQ(beside.users, 2u);
  EXPECT_EQ(beside.runs_of_own, 2u);
  ASSERT_THAT(beside.told, SizeIs(2));
  EXPECT_EQ(beside.told[0].memory.used, 6_GiB);
  EXPECT_EQ(beside.told[1].memory.used, Bytes{~0ULL});
  EXPECT_EQ(beside.parts(), 8u);
}

TEST(BesideOf, RootBelievesNobodyButItself) {
  const policy::Beside beside = beside_of({entry_of(1000, 1_GiB), entry_of(0, 1_GiB)}, 0);
  EXPECT_THAT(beside.believed, SizeIs(1));
  EXPECT_THAT(beside.told, SizeIs(1));
  EXPECT_EQ(beside.runs_of_own, 2u);
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
  for (const char* text :
       {"", "1", "1 2 0 4 5 6 0 7 3", "1 2 2 4 5 6 0 7 3 1", "1 2 0 4 5 6 2 7 3 1",
        "-1 2 0 4 5 6 0 7 3 1", "1 2 0 4 5 6 0 7 3 1 8", "1 2 0 4 5 6 0 7 3 1 0 9",
        "1 2 0 4 5 6 0 7 3 1 8 0", "1 2 0 4 5 6 0 7 3 1 8 9 1"}) {
    EXPECT_FALSE(decode_entry(text)) << text;
  }
  EXPECT_TRUE(decode_entry("1 2 0 4 5 6 0 7 3 1"));
  EXPECT_TRUE(decode_entry("1 2 0 4 5 6 0 7 3 1 8 9"));
  EXPECT_EQ(decode_entry("1 2 0 4 5 6 0 7 3 1")->claim.oldest, Instant(Duration(3)));
  EXPECT_EQ(decode_entry("1 2 0 4 5 6 0 7 0 1")->claim.oldest, std::nullopt);
}

TEST(LedgerLine, HasOneSize) {
  const std::size_t size = encode({}).size();
  const policy::RunClaim most{.memory = {{~0ULL}, {~0ULL}, true},
                              .starting = {~0ULL},
                              .cores = {1e300, 1e300, true},
                              .running = ~std::size_t{},
                              .oldest = Instant::max(),
                              .unsettled = ~std::size_t{}};
  EXPECT_EQ(encode({.claim = most, .terms = policy::Share{{~0ULL}, 1e300}}).size(), size);
}

}  // namespace
}  // namespace plimsoll::supervisor

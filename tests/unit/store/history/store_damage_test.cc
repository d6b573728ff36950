#include "store/history/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <array>
#include <fstream>
#include <map>
#include <thread>

#include "store_fixture.h"

namespace plimsoll::history {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::SizeIs;

TEST_F(StoreTest, VersionOneIsBroughtUp) {
  std::ofstream(place.database()).flush();
  {
    Database database = raw();
    ASSERT_TRUE(migrate(database, 1));
    ASSERT_TRUE(database.run(
        "INSERT INTO class VALUES (1, 'cc -c', 'cc'), (2, 'ld', 'ld');"
        "INSERT INTO experience VALUES (1, 1, 1000, 5000, 0, 70, 0, 1.5, NULL, '0 1 5 5000'),"
        "(2, 1, 3000, 6000, 1, 80, 0, NULL, 9, ''), (3, 2, 2000, 7000, 0, 90, 1, NULL, NULL, '')"));
    EXPECT_EQ(*database.integer("PRAGMA user_version"), 1);
  }
  Store store = open();
  const std::vector<Entry> entries = all(store);
  ASSERT_THAT(entries, SizeIs(3));
  EXPECT_EQ(entries[0].attempt_summary.peak, Bytes{5000});
  EXPECT_EQ(entries[0].attempt_summary.curve.size(), 2U);
  EXPECT_EQ(entries[0].attempt_summary.memory_hint, std::nullopt);
  EXPECT_EQ(entries[1].attempt_summary.input, Bytes{9});
  Database database = raw();
  EXPECT_EQ(*database.integer("PRAGMA user_version"), kSchemaVersion);
  EXPECT_EQ(*database.integer("SELECT last_unix_ns FROM class WHERE exact = 'cc -c'"), 3000);
  ASSERT_TRUE(store.add({entry("ld", 1_MiB)}));
  EXPECT_THAT(all(store), SizeIs(4));
}

// What was learnt before users were told apart is that of whoever keeps the database.
TEST_F(StoreTest, VersionThreeIsBroughtUp) {
  std::ofstream(place.database()).flush();
  {
    Database database = raw();
    ASSERT_TRUE(migrate(database, 3));
    ASSERT_TRUE(database.run(
        "INSERT INTO class VALUES (1, 'cc -c', 'cc', 1000), (2, 'ld', 'ld', 2000);"
        "INSERT INTO experience VALUES (1, 1, 1000, 5000, 0, 70, 0, 1.5, 9, '0 1 5 5000', 8, 77,"
        "'800'), (2, 2, 2000, 7000, 0, 90, 1, NULL, NULL, '', NULL, NULL, '')"));
  }
  Store store = open();
  const std::vector<Entry> entries = all(store);
  ASSERT_THAT(entries, SizeIs(2));
  const policy::AttemptSummary& seen = entries[0].attempt_summary;
  EXPECT_EQ(seen.key, (policy::Key{.exact = "cc -c", .tool = "cc", .command = 77}));
  EXPECT_EQ(seen.input, Bytes{9});
  EXPECT_EQ(seen.memory_hint, Bytes{8});
  EXPECT_EQ(seen.numbers, std::vector<double>{800});
  EXPECT_EQ(seen.curve.size(), 2U);
  ASSERT_TRUE(store.add({entry_of(1000, "cc -c", 1_MiB)}));
  EXPECT_EQ(store.forget("cc -c")->attempt_summaries, 1U);  // goes with its class
  EXPECT_THAT(all(store, kOfAll), SizeIs(2));
  EXPECT_EQ(*raw().integer("SELECT count(*) FROM pragma_foreign_key_check"), 0);
}

TEST_F(StoreTest, VersionFiveKnowsNothingOfDevices) {
  std::ofstream(place.database()).flush();
  {
    Database database = raw();
    ASSERT_TRUE(migrate(database, 5));
    ASSERT_TRUE(database.run(
        "INSERT INTO class VALUES (1, 'cc -c', 'cc', 1000, -1);"
        "INSERT INTO experience VALUES (1, 1, 1000, 5000, 0, 70, 0, 1.5, 9, 8, '0 1', 77, '', 6)"));
  }
  Store store = open();
  const std::vector<Entry> entries = all(store);
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_EQ(entries[0].attempt_summary.written, Bytes{6});
  EXPECT_EQ(entries[0].attempt_summary.io, std::nullopt);
  EXPECT_EQ(entries[0].attempt_summary.io_wait, std::nullopt);
}

TEST_F(StoreTest, ALaterVersionIsLeftAlone) {
  {
    const Store store = open();
  }
  ASSERT_TRUE(raw().run("PRAGMA user_version = 99"));
  const auto opened = Store::open(place.database(), kNow);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message(), HasSubstr("found format 99, expected at most 6"));
  EXPECT_EQ(*raw().integer("PRAGMA user_version"), 99);
}

TEST_F(StoreTest, ADatabaseOfOthersIsLeftAlone) {
  std::ofstream(place.database()).flush();
  ASSERT_TRUE(raw().run("CREATE TABLE mail (subject TEXT)"));
  const auto opened = Store::open(place.database(), kNow);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message(), HasSubstr("not a history of Plimsoll"));
  EXPECT_EQ(*raw().integer("SELECT count(*) FROM mail"), 0);
}

TEST_F(StoreTest, WhatIsNoDatabaseIsSetAside) {
  std::ofstream(place.database()) << std::string(5000, 'x');
  auto opened = Store::open(place.database(), kNow);
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_THAT(opened->notice, Optional(HasSubstr(".corrupt-20231114-221320")));
  EXPECT_TRUE(opened->store.add({entry("a", 1_MiB)}));
  EXPECT_THAT(all(opened->store), SizeIs(1));
  EXPECT_EQ(fs::file_size(place.dir / "history.db.corrupt-20231114-221320"), 5000U);
}

TEST_F(StoreTest, DamageFoundLaterIsSetAsideToo) {
  {
    Store store = open();
    std::vector<Entry> many;
    for (int i = 0; i < 500; ++i) many.push_back(entry("c" + std::to_string(i), 1_MiB));
    ASSERT_TRUE(store.add(many));
  }
  overwrite(4096, fs::file_size(place.database()) - 4096);  // all but the first page
  Store store = open();
  EXPECT_THAT(all(store), IsEmpty());
  EXPECT_THAT(store.take_notice(), Optional(HasSubstr("was damaged")));
  EXPECT_EQ(store.take_notice(), std::nullopt);
  EXPECT_TRUE(store.add({entry("a", 1_MiB)}));
  EXPECT_THAT(all(store), SizeIs(1));
}

TEST_F(StoreTest, FewDamagedOnesAreKept) {
  for (int day = 0; day < 5; ++day) {
    std::ofstream(place.database()) << "no database at all, but longer than nothing";
    ASSERT_TRUE(Store::open(place.database(), kNow + day * 24h));
    fs::remove(place.dir / "history.db-wal");
    fs::remove(place.dir / "history.db-shm");
  }
  EXPECT_THAT(place.files("history.db.corrupt-"), SizeIs(kAsideMax));
}

TEST_F(StoreTest, AFileWhereTheDirectoryShouldBe) {
  std::ofstream(place.dir / "state") << "x";
  const auto opened = Store::open((place.dir / "state" / "history.db").string(), kNow);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message(), HasSubstr("state"));
}

TEST_F(StoreTest, ADirectoryOthersCanWriteIsRefused) {
  fs::permissions(place.dir, fs::perms::all);
  const auto opened = Store::open(place.database(), kNow);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message(), HasSubstr("can be written by others; `chmod go-w "));
}

// As /tmp is: it must stay as it is.
TEST_F(StoreTest, OfADirectoryForEverybodyTheRightsAreNotToBeChanged) {
  fs::permissions(place.dir, fs::perms::all | fs::perms::sticky_bit);
  const auto opened = Store::open(place.database(), kNow);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message(), HasSubstr("written by others; make a directory in it"));
}

TEST_F(StoreTest, ADirectoryWhereTheFileShouldBe) {
  fs::create_directory(place.database());
  const auto opened = Store::open(place.database(), kNow);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message(), HasSubstr(place.database()));
}

TEST_F(StoreTest, AFullDiskIsAnErrorThatPasses) {
  Store store = open();
  ASSERT_TRUE(store.add({entry("a", 1_MiB)}));
  struct rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small{.rlim_cur = 100, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const auto refused = store.add({entry("b", 1_MiB)});
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_FALSE(refused);
  EXPECT_TRUE(store.add({entry("c", 1_MiB)}));
  EXPECT_THAT(all(store), SizeIs(2));
}

// SQLite sees to it that what it writes survives; ours is to ask it for that, and to lose no more
// than the last commits. So a loss of power is played with the log of changes alone.
TEST_F(StoreTest, ALossOfPowerTakesTheLastCommitsAtMost) {
  constexpr std::size_t kCommits = 4;
  Store store = open();
  for (std::size_t i = 0; i < kCommits; ++i) {
    const std::string name = std::to_string(i);
    ASSERT_TRUE(store.add({entry(name + "a", 1_MiB), entry(name + "b", 1_MiB)}));
  }
  const std::string log = place.database() + "-wal";
  const std::uintmax_t size = fs::file_size(log);
  ASSERT_GT(size, 0U);
  constexpr std::uintmax_t kStep = 1000;  // no part of a page
  std::size_t most = 0;
  for (std::uintmax_t kept = 0; kept <= size + kStep; kept += kStep) {
    for (const bool has_nuls : {false, true}) {
      const Place after;
      fs::copy_file(place.database(), after.database());
      fs::copy_file(log, after.database() + "-wal");
      fs::resize_file(after.database() + "-wal", std::min(kept, size));
      if (has_nuls) fs::resize_file(after.database() + "-wal", size);
      auto opened = Store::open(after.database(), kNow);
      ASSERT_TRUE(opened) << opened.error().message();
      ASSERT_EQ(opened->notice, std::nullopt);
      const std::vector<Entry> entries = all(opened->store);
      ASSERT_EQ(entries.size() % 2, 0U) << "half a commit";
      for (std::size_t i = 0; i < entries.size(); ++i) {
        const std::string name = std::to_string(i / 2) + (i % 2 == 0 ? "a" : "b");
        ASSERT_EQ(entries[i].attempt_summary.key.exact, name);
      }
      most = std::max(most, entries.size());
      ASSERT_EQ(opened->store.take_notice(), std::nullopt);
      ASSERT_TRUE(opened->store.add({entry("later", 1_MiB)}));
    }
  }
  EXPECT_EQ(most, 2 * kCommits);
}

TEST_F(StoreTest, SeveralWriteAtOnce) {
  constexpr int kWriters = 4, kBatches = 20;
  std::vector<std::thread> threads;
  std::array<bool, kWriters> fine{};
  for (std::size_t w = 0; w < kWriters; ++w) {
    threads.emplace_back([&, w] {
      auto opened = Store::open(place.database(), kNow);
      if (!opened) return;
      opened->store.be_patient();
      fine[w] = true;
      for (int b = 0; b < kBatches; ++b) {
        const std::string name = "w" + std::to_string(w) + "-" + std::to_string(b);
        if (!opened->store.add({entry(name, 1_MiB), entry("shared", 1_MiB)})) fine[w] = false;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(fine, ::testing::Each(true));
  Store store = open();
  EXPECT_THAT(all(store), SizeIs(kWriters * kBatches + kRowsPerClassMax));
}

TEST_F(StoreTest, SeveralFindTheDamageAtOnce) {
  std::ofstream(place.database()) << std::string(5000, 'x');
  std::vector<std::thread> threads;
  for (int w = 0; w < 4; ++w) {
    threads.emplace_back([&] { (void)Store::open(place.database(), kNow); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(place.files("history.db.corrupt-"), SizeIs(1));
  Store store = open();
  EXPECT_TRUE(store.add({entry("a", 1_MiB)}));
}

}  // namespace
}  // namespace plimsoll::history

#include "history/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <array>
#include <fstream>
#include <thread>

#include "entries.h"
#include "history/schema.h"

namespace plimsoll::history {
namespace {

using namespace testing;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::SizeIs;

struct StoreTest : ::testing::Test {
  [[nodiscard]] Store open() const {
    auto opened = Store::open(place.database(), kNow);
    EXPECT_TRUE(opened) << opened.error().message();
    EXPECT_EQ(opened->notice, std::nullopt);
    return std::move(opened->store);
  }
  [[nodiscard]] Database raw() const { return std::move(*Database::open(place.database())); }
  [[nodiscard]] static mode_t mode_of(const std::string& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
  }
  void overwrite(std::streamoff at, std::size_t size) const {
    std::fstream file(place.database(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file << std::string(size, '\xa5');
  }

  Place place;
};

TEST_F(StoreTest, KeepsAllOfAnExperience) {
  Entry full = entry("cc -c", 3_GiB);
  full.experience.peak_seen = policy::Seen::at_least;
  full.experience.ran_seen = policy::Seen::at_least;
  full.experience.cores = 1.5;
  full.experience.input = 7_MiB;
  full.experience.memory_hint = 2_GiB;
  full.experience.curve = {{.at = 0ns, .used = 1_MiB}, {.at = 2s, .used = 3_GiB}};
  {
    Store store = open();
    ASSERT_TRUE(store.add({full, entry("ld", 1_MiB)}));
  }
  Store store = open();
  const std::vector<Entry> entries = all(store);
  ASSERT_THAT(entries, SizeIs(2));
  const policy::Experience& seen = entries[0].experience;
  EXPECT_EQ(entries[0].recorded, kNow);
  EXPECT_EQ(seen.key, full.experience.key);
  EXPECT_EQ(seen.peak, 3_GiB);
  EXPECT_EQ(seen.peak_seen, policy::Seen::at_least);
  EXPECT_EQ(seen.ran, 3s);
  EXPECT_EQ(seen.ran_seen, policy::Seen::at_least);
  EXPECT_EQ(seen.cores, 1.5);
  EXPECT_EQ(seen.input, 7_MiB);
  EXPECT_EQ(seen.memory_hint, 2_GiB);
  EXPECT_EQ(seen.curve, full.experience.curve);
  EXPECT_EQ(entries[1].experience.cores, std::nullopt);
  EXPECT_EQ(entries[1].experience.input, std::nullopt);
  EXPECT_EQ(entries[1].experience.peak_seen, policy::Seen::whole);
  EXPECT_THAT(entries[1].experience.curve, IsEmpty());
}

TEST_F(StoreTest, KeysMayHoldAnyBytes) {
  const std::string odd("a\0b'\"\xff%", 7);
  Store store = open();
  ASSERT_TRUE(store.add({entry(odd, 1_MiB)}));
  ASSERT_THAT(all(store), SizeIs(1));
  EXPECT_EQ(all(store)[0].experience.key.exact, odd);
}

TEST_F(StoreTest, IsForItsOwnerAlone) {
  const std::string path = (place.dir / "new" / "deep" / "history.db").string();
  auto opened = Store::open(path, kNow);
  ASSERT_TRUE(opened);
  ASSERT_TRUE(opened->store.add({entry("a", 1_MiB)}));
  EXPECT_EQ(mode_of((place.dir / "new" / "deep").string()), 0700U);
  EXPECT_EQ(mode_of(path), 0600U);
  EXPECT_EQ(mode_of(path + "-wal"), 0600U);
}

TEST_F(StoreTest, IsNotMadeToBeRead) {
  const auto opened = Store::open(place.database(), kNow, WhenMissing::leave);
  ASSERT_FALSE(opened);
  EXPECT_TRUE(opened.error().gone());
  EXPECT_THAT(place.files(""), IsEmpty());
}

TEST_F(StoreTest, UnkeyedAndOverlongAreNotKept) {
  Store store = open();
  ASSERT_TRUE(store.add({entry("", 1_MiB), entry(std::string(kKeyBytesMax + 1, 'x'), 1_MiB),
                         entry(std::string(kKeyBytesMax, 'x'), 1_MiB)}));
  EXPECT_THAT(all(store), SizeIs(1));
}

TEST_F(StoreTest, AClassIsBounded) {
  Store store = open();
  std::vector<Entry> many;
  for (std::size_t i = 0; i < kRowsPerClassMax + 10; ++i) many.push_back(entry("a", Bytes{i}));
  ASSERT_TRUE(store.add(many));
  ASSERT_TRUE(store.add({entry("b", 1_MiB)}));
  const std::vector<Entry> entries = all(store);
  ASSERT_THAT(entries, SizeIs(kRowsPerClassMax + 1));
  EXPECT_EQ(entries.front().experience.peak, Bytes{10});  // the oldest went
}

TEST_F(StoreTest, ClassesAndRowsAreBounded) {
  Store store = open();
  std::vector<Entry> many;
  for (std::uint64_t i = 0; i < 50; ++i) {
    const std::string name = "class-" + std::to_string(i);
    for (int k = 0; k < 7; ++k) many.push_back(entry(name, Bytes{i}, kNow + Duration(i)));
  }
  ASSERT_TRUE(store.add(many));
  ASSERT_TRUE(store.trim(kNow));
  EXPECT_THAT(all(store), SizeIs(350));

  ASSERT_TRUE(store.trim(kNow, {.classes = 10, .rows = 65}));
  const std::vector<Entry> entries = all(store);
  ASSERT_THAT(entries, SizeIs(65));
  EXPECT_EQ(entries.front().experience.key.exact, "class-40");
  EXPECT_EQ(entries.back().experience.key.exact, "class-49");
  EXPECT_EQ(*raw().integer("SELECT count(*) FROM class"), 10);
}

TEST_F(StoreTest, OldExperiencesGo) {
  Store store = open();
  ASSERT_TRUE(store.add({entry("old", 1_MiB, kNow - kAgeMax - 1s), entry("new", 1_MiB)}));
  ASSERT_TRUE(store.trim(kNow));
  ASSERT_THAT(all(store), SizeIs(1));
  EXPECT_EQ(all(store)[0].experience.key.exact, "new");
  EXPECT_THAT(*raw().integer("SELECT count(*) FROM class"), Eq(1));
}

TEST_F(StoreTest, ReadingEndsInTime) {
  Store store = open();
  std::vector<Entry> many;
  for (int i = 0; i < 600; ++i) many.push_back(entry("c" + std::to_string(i), 1_MiB));
  ASSERT_TRUE(store.add(many));
  const auto loaded = store.load(Instant(0s), &no_clock);
  ASSERT_TRUE(loaded);
  EXPECT_TRUE(loaded->cut);
  EXPECT_LT(loaded->entries.size(), many.size());
}

TEST_F(StoreTest, ForgetsByPattern) {
  Store store = open();
  ASSERT_TRUE(store.add({entry("cc -c", 1_MiB), entry("cc -c", 2_MiB), entry("cc", 3_MiB),
                         entry("ld secret", 4_MiB)}));
  auto forgotten = store.forget("cc*");
  ASSERT_TRUE(forgotten) << forgotten.error().message();
  EXPECT_EQ(forgotten->classes, 2U);
  EXPECT_EQ(forgotten->experiences, 3U);
  EXPECT_THAT(all(store), SizeIs(1));
  EXPECT_EQ(store.forget("cc*")->classes, 0U);

  EXPECT_EQ(store.forget("*")->classes, 1U);
  for (const std::string& name : place.files("history.db")) {
    std::ifstream file(place.dir / name, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    EXPECT_EQ(bytes.find("ld secret"), std::string::npos) << name;
  }
}

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
  EXPECT_EQ(entries[0].experience.peak, Bytes{5000});
  EXPECT_EQ(entries[0].experience.curve.size(), 2U);
  EXPECT_EQ(entries[0].experience.memory_hint, std::nullopt);
  EXPECT_EQ(entries[1].experience.input, Bytes{9});
  Database database = raw();
  EXPECT_EQ(*database.integer("PRAGMA user_version"), kSchemaVersion);
  EXPECT_EQ(*database.integer("SELECT last_unix_ns FROM class WHERE exact = 'cc -c'"), 3000);
  ASSERT_TRUE(store.add({entry("ld", 1_MiB)}));
  EXPECT_THAT(all(store), SizeIs(4));
}

TEST_F(StoreTest, ALaterVersionIsLeftAlone) {
  {
    const Store store = open();
  }
  ASSERT_TRUE(raw().run("PRAGMA user_version = 99"));
  const auto opened = Store::open(place.database(), kNow);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message(), HasSubstr("its version is 99, this one knows 2"));
  EXPECT_EQ(*raw().integer("PRAGMA user_version"), 99);
}

TEST_F(StoreTest, ADatabaseOfOthersIsLeftAlone) {
  std::ofstream(place.database()).flush();
  ASSERT_TRUE(raw().run("CREATE TABLE mail (subject TEXT)"));
  const auto opened = Store::open(place.database(), kNow);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message(), HasSubstr("not one of Plimsoll's"));
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
  EXPECT_THAT(opened.error().message(), HasSubstr("can be written by others"));
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

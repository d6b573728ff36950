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

TEST_F(StoreTest, ToReadFromItWritesNothing) {
  ASSERT_TRUE(open().add({entry("ld", 1_MiB)}));
  const std::string before = content();
  {
    Store store = open();
    EXPECT_THAT(all(store), SizeIs(1));
  }
  EXPECT_TRUE(content() == before);
}

TEST_F(StoreTest, KeepsAllOfAnExperience) {
  Entry full = entry("cc -c", 3_GiB);
  full.attempt_summary.peak_seen = policy::Seen::at_least;
  full.attempt_summary.ran_seen = policy::Seen::at_least;
  full.attempt_summary.cores = 1.5;
  full.attempt_summary.input = 7_MiB;
  full.attempt_summary.memory_hint = 2_GiB;
  full.attempt_summary.written = 5_MiB;
  full.attempt_summary.io = 6_MiB;
  full.attempt_summary.io_wait = 2s;
  full.attempt_summary.numbers = {800, -0.1, 1e300};
  full.attempt_summary.curve = {{.at = 0ns, .used = 1_MiB}, {.at = 2s, .used = 3_GiB}};
  {
    Store store = open();
    ASSERT_TRUE(store.add({full, entry("ld", 1_MiB)}));
  }
  Store store = open();
  const std::vector<Entry> entries = all(store);
  ASSERT_THAT(entries, SizeIs(2));
  const policy::AttemptSummary& seen = entries[0].attempt_summary;
  EXPECT_EQ(entries[0].recorded, kNow);
  EXPECT_EQ(seen.key, full.attempt_summary.key);
  EXPECT_EQ(seen.peak, 3_GiB);
  EXPECT_EQ(seen.peak_seen, policy::Seen::at_least);
  EXPECT_EQ(seen.ran, 3s);
  EXPECT_EQ(seen.ran_seen, policy::Seen::at_least);
  EXPECT_EQ(seen.cores, 1.5);
  EXPECT_EQ(seen.input, 7_MiB);
  EXPECT_EQ(seen.memory_hint, 2_GiB);
  EXPECT_EQ(seen.written, 5_MiB);
  EXPECT_EQ(entries[1].attempt_summary.written, std::nullopt);
  EXPECT_EQ(seen.io, 6_MiB);
  EXPECT_EQ(seen.io_wait, 2s);
  EXPECT_EQ(entries[1].attempt_summary.io, std::nullopt);
  EXPECT_EQ(entries[1].attempt_summary.io_wait, std::nullopt);
  EXPECT_EQ(seen.numbers, full.attempt_summary.numbers);
  EXPECT_EQ(seen.curve, full.attempt_summary.curve);
  EXPECT_EQ(entries[1].attempt_summary.cores, std::nullopt);
  EXPECT_EQ(entries[1].attempt_summary.input, std::nullopt);
  EXPECT_EQ(entries[1].attempt_summary.peak_seen, policy::Seen::whole);
  EXPECT_THAT(entries[1].attempt_summary.curve, IsEmpty());
}

TEST_F(StoreTest, KeysMayHoldAnyBytes) {
  const std::string odd("a\0b'\"\xff%", 7);
  Store store = open();
  ASSERT_TRUE(store.add({entry(odd, 1_MiB)}));
  ASSERT_THAT(all(store), SizeIs(1));
  EXPECT_EQ(all(store)[0].attempt_summary.key.exact, odd);
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
  EXPECT_EQ(entries.front().attempt_summary.peak, Bytes{10});  // the oldest went
}

Entry entry_of_command(std::uint64_t command, Bytes peak) {
  Entry made = entry("sweep", peak);
  made.attempt_summary.key.command = command;
  return made;
}

TEST_F(StoreTest, EachCommandIsKeptBeyondItsClass) {
  constexpr std::uint64_t kCommands = 2 * kRowsPerClassMax;
  constexpr std::uint64_t kHigh = std::uint64_t{1} << 63;  // digests use all bits
  Store store = open();
  for (std::uint64_t round = 0; round < kRowsPerCommandMax + 2; ++round) {
    std::vector<Entry> many;
    for (std::uint64_t i = 0; i < kCommands; ++i) {
      many.push_back(entry_of_command(kHigh + i, Bytes{round}));
    }
    ASSERT_TRUE(store.add(many));
  }
  std::map<std::uint64_t, std::vector<std::uint64_t>> peaks;
  for (const Entry& kept : all(store)) {
    peaks[kept.attempt_summary.key.command].push_back(kept.attempt_summary.peak.count);
  }
  ASSERT_EQ(peaks.size(), kCommands);
  for (const auto& [command, of_command] : peaks) {
    EXPECT_THAT(of_command, ElementsAre(2, 3, 4, 5)) << command;
  }
  // What is of no command, or was cut off, still goes by its class.
  std::vector<Entry> others;
  for (std::size_t i = 0; i < 3 * kRowsPerClassMax; ++i) {
    others.push_back(entry_of_command(i % 2, 1_MiB));
    others.back().attempt_summary.peak_seen = policy::Seen::at_least;
  }
  ASSERT_TRUE(store.add(others));
  EXPECT_THAT(all(store), SizeIs(kCommands * kRowsPerCommandMax + kRowsPerClassMax));

  ASSERT_TRUE(store.trim(kNow, {.rows_of_class = 100}));
  EXPECT_THAT(all(store), SizeIs(100));
}

TEST_F(StoreTest, ACommandThatIsRunAgainAndAgainIsKeptAsItsClass) {
  Store store = open();
  std::vector<Entry> many;
  for (std::size_t i = 0; i < 3 * kRowsPerClassMax; ++i) many.push_back(entry_of_command(7, 1_MiB));
  ASSERT_TRUE(store.add(many));
  EXPECT_THAT(all(store), SizeIs(kRowsPerClassMax));
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
  EXPECT_EQ(entries.front().attempt_summary.key.exact, "class-40");
  EXPECT_EQ(entries.back().attempt_summary.key.exact, "class-49");
  EXPECT_EQ(*raw().integer("SELECT count(*) FROM class"), 10);
}

TEST_F(StoreTest, OldExperiencesGo) {
  Store store = open();
  ASSERT_TRUE(store.add({entry("old", 1_MiB, kNow - kAgeMax - 1s), entry("new", 1_MiB)}));
  ASSERT_TRUE(store.trim(kNow));
  ASSERT_THAT(all(store), SizeIs(1));
  EXPECT_EQ(all(store)[0].attempt_summary.key.exact, "new");
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

TEST_F(StoreTest, ReadsWhatIsKnownOfOneTool) {
  Store store = open();
  Entry other = entry("ld", 4_MiB);
  other.attempt_summary.key.tool = "ld";
  Entry of_class = entry("mine", 8_MiB);
  of_class.attempt_summary.key.tool.clear();
  Entry compile = entry("cc -c", 1_MiB), link = entry("cc", 2_MiB);
  compile.attempt_summary.key.tool = link.attempt_summary.key.tool = "cc";
  ASSERT_TRUE(store.add({compile, other, link, of_class}));
  const auto of_cc =
      store.load_tool({.exact = "cc -c", .tool = "cc"}, Instant::max(), [] { return Instant(); });
  ASSERT_TRUE(of_cc) << of_cc.error().message();
  ASSERT_THAT(of_cc->entries, SizeIs(2));
  EXPECT_EQ(of_cc->entries[0].attempt_summary.key.exact, "cc -c");
  EXPECT_EQ(of_cc->entries[1].attempt_summary.peak, 2_MiB);
  const auto mine =
      store.load_tool({.exact = "mine", .tool = ""}, Instant::max(), [] { return Instant(); });
  ASSERT_TRUE(mine);
  ASSERT_THAT(mine->entries, SizeIs(1));
  EXPECT_EQ(mine->entries[0].attempt_summary.peak, 8_MiB);
}

TEST_F(StoreTest, ForgetsByPattern) {
  Store store = open();
  ASSERT_TRUE(store.add({entry("cc -c", 1_MiB), entry("cc -c", 2_MiB), entry("cc", 3_MiB),
                         entry("ld secret", 4_MiB)}));
  auto forgotten = store.forget("cc*");
  ASSERT_TRUE(forgotten) << forgotten.error().message();
  EXPECT_EQ(forgotten->classes, 2U);
  EXPECT_EQ(forgotten->attempt_summaries, 3U);
  EXPECT_THAT(all(store), SizeIs(1));
  EXPECT_EQ(store.forget("cc*")->classes, 0U);

  EXPECT_EQ(store.forget("*")->classes, 1U);
  for (const std::string& name : place.files("history.db")) {
    std::ifstream file(place.dir / name, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    EXPECT_EQ(bytes.find("ld secret"), std::string::npos) << name;
  }
}

constexpr std::uint32_t kAlice = 1000, kBob = 1001;

TEST_F(StoreTest, EachUsersClassesAreHisOwn) {
  Store store = open();
  ASSERT_TRUE(store.add({entry("cc", 1_MiB), entry_of(kAlice, "cc", 2_MiB),
                         entry_of(kBob, "cc", 3_MiB), entry_of(kBob, "ld", 4_MiB)}));
  ASSERT_THAT(all(store), SizeIs(1));
  EXPECT_EQ(all(store)[0].attempt_summary.peak, 1_MiB);
  EXPECT_EQ(all(store)[0].attempt_summary.key.owner, std::nullopt);
  const Whose bobs{.kind = Whose::Kind::user, .uid = kBob};
  ASSERT_THAT(all(store, bobs), SizeIs(2));
  EXPECT_EQ(all(store, bobs)[0].attempt_summary.key.owner, kBob);
  EXPECT_THAT(all(store, kOfAll), SizeIs(4));
  // A command that runs alone believes its own user's past.
  const auto tool = store.load_tool({.exact = "cc", .tool = "tool"}, Instant::max(), &no_clock);
  ASSERT_TRUE(tool);
  ASSERT_THAT(tool->entries, SizeIs(1));
  EXPECT_EQ(tool->entries[0].attempt_summary.peak, 1_MiB);

  EXPECT_EQ(store.forget("cc", bobs)->classes, 1U);
  EXPECT_THAT(all(store, kOfAll), SizeIs(3));
  EXPECT_EQ(store.forget("*", kOfAll)->classes, 3U);
}

TEST_F(StoreTest, AUserMakesRoomForHisOwn) {
  Store store = open();
  std::vector<Entry> many = {entry("mine", 1_MiB), entry_of(kBob, "his", 1_MiB)};
  for (int i = 0; i < 20; ++i) many.push_back(entry_of(kAlice, "a" + std::to_string(i), 1_MiB));
  for (int i = 0; i < 20; ++i) many.push_back(entry_of(kAlice, "b", 1_MiB));
  ASSERT_TRUE(store.add(many));
  ASSERT_TRUE(store.trim(kNow, {.classes_of_owner = 8, .rows_of_owner = 15}));
  EXPECT_THAT(all(store), SizeIs(1));
  EXPECT_THAT(all(store, {.kind = Whose::Kind::user, .uid = kBob}), SizeIs(1));
  EXPECT_LE(all(store, {.kind = Whose::Kind::user, .uid = kAlice}).size(), 15U);
  EXPECT_LE(*raw().integer("SELECT count(*) FROM class WHERE owner = 1000"), 8);
}

}  // namespace
}  // namespace plimsoll::history

// The history on disks that fail and machines that lose their power.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <utility>

#include "entries.h"
#include "store/history/file.h"
#include "store/history/sqlite.h"
#include "store/history/state_dir.h"
#include "support/faulty_database.h"
#include "support/faulty_disk.h"

namespace plimsoll::history {
namespace {

// A sanitizer makes each some ten times slower; every call is met without.
#ifdef PLIMSOLL_SANITIZED
constexpr std::size_t kCallStep = 3;
#else
constexpr std::size_t kCallStep = 1;
#endif

using namespace testing;
using faults::Data;
using faults::Fault;
using faults::FaultyDatabases;
using faults::FaultyDisk;
using faults::kFaults;
using faults::kSurvivals;
using faults::Names;
using faults::Survival;
using faults::Writes;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Strings = std::vector<std::string>;
using Remains = FaultyDisk::Remains;

enum class Damage : std::uint8_t { never, told };

// A history whose place has still to be made, on a disk of its own.
struct Faulty {
  [[nodiscard]] std::string directory() const { return (place.dir / "home" / "state").string(); }
  [[nodiscard]] std::string path() const { return history_path(directory()); }
  [[nodiscard]] Result<Store::Opened> open() const {
    return Store::open(path(), kNow, WhenMissing::create, disk);
  }
  // All that there is, oldest first.
  [[nodiscard]] Strings names(Damage damage = Damage::never) const {
    auto opened = open();
    EXPECT_TRUE(opened) << opened.error().message();
    if (!opened) return {"it cannot be opened"};
    auto notice = std::move(opened->notice);
    Strings names;
    for (const Entry& entry : all(opened->store)) names.push_back(entry.attempt_summary.key.exact);
    if (!notice) notice = opened->store.take_notice();
    if (damage == Damage::never) {
      EXPECT_EQ(notice, std::nullopt);
    }
    return names;
  }
  // The same, and that more can be added.
  [[nodiscard]] Strings usable_names(Damage damage = Damage::never) const {
    Strings there = names(damage);
    auto opened = open();
    EXPECT_TRUE(opened && opened->store.add({entry("later", 1_MiB)}));
    return there;
  }
  // Of any file.
  [[nodiscard]] static bool has_text(const Remains& remains, const std::string& text) {
    return std::any_of(remains.begin(), remains.end(), [&text](const auto& file) {
      return file.second && file.second->find(text) != std::string::npos;
    });
  }
  // What is there is on the disk.
  void settle() { disk.crash({Names::all, Data::all}); }

  Place place;
  FaultyDisk disk{place.dir.string(), Writes::anywhere};
  FaultyDatabases databases{disk};
};

// Each thing that a loss of power now could leave. Where a directory could not be forced to the
// disk SQLite goes on without a word: so a fault before it counts for bytes alone.
std::set<Remains> remains_of(const FaultyDisk& disk) {
  std::set<Remains> remains;
  for (const Survival survival : kSurvivals) {
    if (disk.has_power() && disk.has_failed() && survival.names == Names::synced) continue;
    remains.insert(disk.after_crash(survival));
  }
  return remains;
}

// Meets each fault at each call that `work` makes after `before`. Then `check` is given what the
// work came to, and what a loss of power at its end could leave.
template <class Before, class Work, class Check>
void at_every_call(Before before, Work work, Check check) {
  std::size_t calls = 0;
  {
    Faulty faulty;
    before(faulty);
    const std::size_t first = faulty.disk.calls();
    (void)work(faulty);
    calls = faulty.disk.calls() - first;
  }
  ASSERT_GT(calls, 0U);
  for (const Fault fault : kFaults) {
    for (std::size_t call = 0; call <= calls; call += kCallStep) {
      SCOPED_TRACE(::testing::Message()
                   << "fault " << static_cast<int>(fault) << " at call " << call);
      Faulty faulty;
      before(faulty);
      faulty.disk.fail_after(call, fault);
      const auto came = work(faulty);
      const std::set<Remains> remains = remains_of(faulty.disk);
      const bool has_power = faulty.disk.has_power();
      faulty.disk.recover();
      check(faulty, came, has_power, remains);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

struct Added {
  Strings told;            // as added
  Strings unsure;          // what came last, of which an error was told
  std::size_t synced = 0;  // of the told ones, when the history was closed without a fault
};

constexpr int kRunsAdding = 2, kCommitsOfRun = 3;

// Runs that each add some, as often as one can.
Added add_some(const Faulty& faulty) {
  Added came;
  for (int run = 0; run < kRunsAdding && faulty.disk.has_power(); ++run) {
    {
      auto opened = faulty.open();
      for (int i = 0; opened && i < kCommitsOfRun && faulty.disk.has_power(); ++i) {
        const std::string name = std::to_string(run) + std::to_string(i);
        came.unsure = {name + "a", name + "b"};
        if (!opened->store.add({entry(name + "a", 1_MiB), entry(name + "b", 1_MiB)})) continue;
        came.told.insert(came.told.end(), came.unsure.begin(), came.unsure.end());
        came.unsure.clear();
      }
      if (opened && faulty.disk.has_power()) (void)opened->store.trim(kNow);
    }
    if (!faulty.disk.has_failed()) came.synced = came.told.size();
  }
  return came;
}

// The first of `all`, in whole commits.
bool is_start_of(const Strings& names, const Strings& all) {
  return names.size() % 2 == 0 && names.size() <= all.size() &&
         std::equal(names.begin(), names.end(), all.begin());
}

TEST(HistoryFaults, HasTheFirstOfWhatWasAddedAndAllThatWasSynced) {
  at_every_call(
      [](Faulty&) {}, &add_some,
      [](Faulty& faulty, const Added& came, bool has_power, const std::set<Remains>& remains) {
        if (has_power) {
          EXPECT_EQ(faulty.usable_names(), came.told);
        }
        Strings most = came.told;
        if (!has_power) most.insert(most.end(), came.unsure.begin(), came.unsure.end());
        for (const Remains& left : remains) {
          faulty.disk.restore(left);
          const Strings names = faulty.usable_names();
          EXPECT_TRUE(is_start_of(names, most)) << ::testing::PrintToString(names);
          EXPECT_GE(names.size(), came.synced);
        }
      });
}

// Else the test above would show nothing.
TEST(HistoryFaults, WhatIsNotSyncedIsLostWithThePower) {
  Faulty faulty;
  {
    auto opened = faulty.open();
    ASSERT_TRUE(opened && opened->store.add({entry("a", 1_MiB)}));
    faulty.disk.fail_after(0, Fault::power_loss);
  }
  faulty.disk.crash({Names::all, Data::synced});
  EXPECT_THAT(faulty.names(), IsEmpty());
}

// An old database, with three attempt summaries.
void make_version_one(Faulty& faulty) {
  ASSERT_TRUE(make_private_dir(faulty.directory(), faulty.disk));
  ::close(faulty.disk.open(AT_FDCWD, faulty.path(), O_RDWR | O_CREAT, 0600));
  {
    auto database = Database::open(faulty.path());
    ASSERT_TRUE(database);
    ASSERT_TRUE(migrate(*database, 1));
    ASSERT_TRUE(database->run(
        "INSERT INTO class VALUES (1, 'cc -c', 'cc'), (2, 'ld', 'ld');"
        "INSERT INTO experience VALUES (1, 1, 1000, 5000, 0, 70, 0, 1.5, NULL, '0 1 5 5000'),"
        "(2, 1, 3000, 6000, 1, 80, 0, NULL, 9, ''), (3, 2, 2000, 7000, 0, 90, 1, NULL, NULL, '')"));
  }
  faulty.settle();
}

TEST(HistoryFaults, AnUpgradeLosesNothing) {
  at_every_call(
      &make_version_one, [](const Faulty& faulty) { return faulty.open().has_value(); },
      [](Faulty& faulty, bool, bool has_power, const std::set<Remains>& remains) {
        if (has_power) {
          EXPECT_THAT(faulty.usable_names(), ElementsAre("cc -c", "cc -c", "ld"));
        }
        for (const Remains& left : remains) {
          faulty.disk.restore(left);
          EXPECT_THAT(faulty.usable_names(), ElementsAre("cc -c", "cc -c", "ld"));
          EXPECT_EQ(*Database::open(faulty.path())->integer("PRAGMA user_version"), kSchemaVersion);
        }
      });
}

void make_four(Faulty& faulty) {
  {
    auto opened = faulty.open();
    ASSERT_TRUE(opened && opened->store.add({entry("keep 1", 1_MiB), entry("secret 1", 1_MiB),
                                             entry("keep 2", 1_MiB), entry("secret 2", 1_MiB)}));
  }
  faulty.settle();
}

TEST(HistoryFaults, WhatWasForgottenDoesNotComeBack) {
  at_every_call(
      &make_four,
      [](const Faulty& faulty) {
        auto opened = faulty.open();
        return opened && opened->store.forget("secret*");
      },
      [](Faulty& faulty, bool is_forgotten, bool, const std::set<Remains>& remains) {
        for (const Remains& left : remains) {
          faulty.disk.restore(left);
          const Strings names = faulty.usable_names();
          if (is_forgotten) {
            EXPECT_THAT(names, ElementsAre("keep 1", "keep 2"));
            EXPECT_FALSE(Faulty::has_text(left, "secret"));
          } else {
            EXPECT_THAT(names, AnyOf(ElementsAre("keep 1", "keep 2"),
                                     ElementsAre("keep 1", "secret 1", "keep 2", "secret 2")));
          }
        }
      });
}

constexpr const char* kNoDatabase = "no database at all, but longer than nothing";

void make_damaged(Faulty& faulty) {
  ASSERT_TRUE(make_private_dir(faulty.directory(), faulty.disk));
  ::close(faulty.disk.open(AT_FDCWD, faulty.path(), O_RDWR | O_CREAT, 0600));
  std::ofstream(faulty.path()) << kNoDatabase;
  Remains damaged = faulty.disk.after_crash({Names::all, Data::all});
  damaged[faulty.path()] = kNoDatabase;
  faulty.disk.restore(damaged);
}

TEST(HistoryFaults, ADamagedOneIsSetAsideWhole) {
  at_every_call(
      &make_damaged,
      [](const Faulty& faulty) {
        auto opened = faulty.open();
        return opened && opened->store.add({entry("new", 1_MiB)});
      },
      [](Faulty& faulty, bool is_added, bool has_power, const std::set<Remains>& remains) {
        if (has_power) {
          EXPECT_EQ(faulty.usable_names(Damage::told).size(), is_added ? 1U : 0U);
        }
        for (const Remains& left : remains) {
          EXPECT_TRUE(Faulty::has_text(left, kNoDatabase)) << "it is lost";
          faulty.disk.restore(left);
          EXPECT_THAT(faulty.usable_names(Damage::told), AnyOf(IsEmpty(), ElementsAre("new")));
        }
      });
}

// A database whose first page is damaged, with a log that another program still has open.
struct DamagedInUse {
  DamagedInUse() {
    auto opened = Store::open(place.database(), kNow);
    EXPECT_TRUE(opened);
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(opened->store.add({entry("old", 1_MiB)}));
    (void)std::exchange(opened, tl::unexpected(Error{}));
    opened = Store::open(place.database(), kNow);
    EXPECT_TRUE(opened && opened->store.add({entry("old", 1_MiB)}));
    holder.emplace(std::move(opened->store));
    std::fstream file(place.database(), std::ios::in | std::ios::out | std::ios::binary);
    file << std::string(100, '\xa5');
  }

  Place place;
  std::optional<Store> holder;
};

// Its log would be taken for that of the new database, whichever of the calls is the last.
TEST(HistoryFaults, ALogIsNotLeftToTheNextDatabase) {
  for (std::size_t call = 0; call < 20; ++call) {
    SCOPED_TRACE(::testing::Message() << "call " << call);
    const DamagedInUse damaged;
    FaultyDisk disk(damaged.place.dir.string());
    disk.fail_after(call, Fault::power_loss);
    (void)Store::open(damaged.place.database(), kNow, WhenMissing::create, disk);
    const Place after;
    fs::copy(damaged.place.dir, after.dir);
    auto opened = Store::open(after.database(), kNow + 1h);
    ASSERT_TRUE(opened) << opened.error().message();
    EXPECT_THAT(all(opened->store), IsEmpty());
    EXPECT_TRUE(opened->store.add({entry("old", 1_MiB)}));
    EXPECT_THAT(all(opened->store), SizeIs(1));
    auto database = Database::open(after.database());
    auto check = database->prepare("PRAGMA integrity_check(1)");
    EXPECT_TRUE(check && *check->step());
    EXPECT_EQ(check->text(0), "ok");
  }
}

TEST(HistoryFaults, AStateDirectoryThatWasMadeStays) {
  at_every_call([](Faulty&) {},
                [](const Faulty& faulty) {
                  return make_private_dir(faulty.directory(), faulty.disk).has_value();
                },
                [](Faulty& faulty, bool is_made, bool, const std::set<Remains>& remains) {
                  for (const Remains& left : remains) {
                    EXPECT_TRUE(!is_made || left.contains(faulty.directory()));
                    faulty.disk.restore(left);
                    EXPECT_THAT(faulty.usable_names(), IsEmpty());
                  }
                });
}

}  // namespace
}  // namespace plimsoll::history

// Places of external jobs: a group and a family of processes of this test's own, seen and acted
// upon as those of a client.
#include "supervisor/external/external_process_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <memory>

#include "host/supervisor/places.h"
#include "kernel/cgroup/destroy.h"
#include "kernel/procfs/signals.h"
#include "support/host_test.h"

namespace plimsoll::supervisor {
namespace {

using plimsoll::testing::eventually;
using plimsoll::testing::is_dead;
using plimsoll::testing::spent_on;
using plimsoll::testing::Started;
using plimsoll::testing::state_of;
using ::testing::HasSubstr;
using namespace literals;

struct GuestPlaceTest : plimsoll::testing::HostTest {
  void TearDown() override {
    using namespace plimsoll::testing;
    if (ground_) {
      (void)cgroup::destroy(ground_->inner().parts(), "job", clock_now() + kPatience, &clock_now);
    }
    HostTest::TearDown();
  }

  [[nodiscard]] std::string path_of(const cgroup::Leaf& leaf) const {
    return plimsoll::testing::path_of(leaf, hierarchies);
  }

  // As the daemon does on another thread.
  void read(MeasuredGroups measured = {}) const {
    ProcessReading reading = look->begin(std::move(measured));
    reading.read(plimsoll::testing::clock_now());
    look->take(reading);
  }

  cgroup::Hierarchies hierarchies = *cgroup::discover_hierarchies();
  std::shared_ptr<ProcessSnapshot> look = *ProcessSnapshot::open();
  loop::Loop loop = *loop::Loop::create();
  ProcessSignals signals{loop};
};

TEST_F(GuestPlaceTest, AGroupIsMeasuredStoppedAndKilled) {
  PREPARE_OR_SKIP(plimsoll::testing::kHybrid);
  const cgroup::Leaf leaf = ground_->leaf("job");
  const Started hog = plimsoll::testing::start(leaf, {"hog", "40"});
  auto process_set = open_group({path_of(leaf)}, {.uid = ::geteuid()}, hierarchies, "", signals);
  ASSERT_TRUE(process_set) << process_set.error().message();
  EXPECT_TRUE(eventually([&] {
    const ExternalSample seen = (*process_set)->look(plimsoll::testing::clock_now());
    return seen.used && *seen.used > 35_MiB && seen.cpu;
  }));
  (*process_set)->freeze();
  (*process_set)->thaw();
  EXPECT_TRUE(eventually([&] {
    (*process_set)->kill(plimsoll::testing::clock_now());
    return is_dead(hog.pid);
  }));
}

TEST_F(GuestPlaceTest, AFamilyIsMeasuredStoppedAndKilled) {
  PREPARE_OR_SKIP(plimsoll::testing::kHybrid);
  const cgroup::Leaf leaf = ground_->leaf("job");
  const Started hog = plimsoll::testing::start(leaf, {"hog", "40"});
  auto process_set = open_processes({hog.pid}, {.uid = ::geteuid()}, look, signals);
  ASSERT_TRUE(process_set) << process_set.error().message();
  EXPECT_FALSE((*process_set)->look(plimsoll::testing::clock_now()).used) << "nobody has read it";
  EXPECT_TRUE(eventually([&] {
    read();
    const ExternalSample seen = (*process_set)->look(plimsoll::testing::clock_now());
    return seen.used && *seen.used > 35_MiB;
  }));
  (*process_set)->freeze();
  EXPECT_TRUE(eventually([&] { return state_of(hog.pid) == 'T'; }));
  process_set->reset();  // what was stopped goes on
  EXPECT_TRUE(eventually([&] { return state_of(hog.pid) != 'T'; }));
  process_set = open_processes({hog.pid}, {.uid = ::geteuid()}, look, signals);
  ASSERT_TRUE(process_set);
  EXPECT_TRUE(eventually([&] {
    (*process_set)->kill(plimsoll::testing::clock_now());
    read();
    return is_dead(hog.pid);
  }));
}

TEST_F(GuestPlaceTest, WhatIsWrittenIsSeenFromWhenItIsAskedFirst) {
  PREPARE_OR_SKIP(plimsoll::testing::kHybrid);
  const cgroup::Leaf leaf = ground_->leaf("job");
  const std::string file = "/var/tmp/plimsoll-written-" + std::to_string(::getpid());
  const Started before = plimsoll::testing::start(leaf, {"write_file", file, "3"});
  ASSERT_TRUE(plimsoll::testing::wait_ready(before));
  auto group = open_group({path_of(leaf)}, {.uid = ::geteuid()}, hierarchies, "", signals);
  ASSERT_TRUE(group) << group.error().message();
  EXPECT_TRUE(eventually([&] { return state_of(before.pid) == 'S'; })) << "it has written";
  EXPECT_EQ((*group)->written(plimsoll::testing::clock_now()), Bytes{});
  const Started writer = plimsoll::testing::start(leaf, {"write_file", file, "5"});
  EXPECT_TRUE(eventually([&] {
    const auto seen = (*group)->written(plimsoll::testing::clock_now());
    return seen && *seen >= 5_MiB && *seen < 6_MiB;
  }));
  auto family = open_processes({writer.pid}, {.uid = ::geteuid()}, look, signals);
  ASSERT_TRUE(family) << family.error().message();
  EXPECT_EQ((*family)->written(plimsoll::testing::clock_now()), std::nullopt);
  EXPECT_TRUE(eventually([&] {
    read();
    const auto seen = (*family)->written(plimsoll::testing::clock_now());
    return seen && *seen >= 5_MiB;
  }));
}

TEST_F(GuestPlaceTest, WhatIsWrittenInGroupsBelowIsSeen) {
  PREPARE_OR_SKIP(plimsoll::testing::kHybrid);
  const cgroup::Leaf leaf = ground_->leaf("job");
  const cgroup::Directory& v2 = *leaf.v2();
  ASSERT_EQ(::mkdirat(v2.fd(), "outer", 0755), 0);
  ASSERT_EQ(::mkdirat(v2.fd(), "outer/inner", 0755), 0);
  auto group = open_group({path_of(leaf)}, {.uid = ::geteuid()}, hierarchies, "", signals);
  ASSERT_TRUE(group) << group.error().message();
  EXPECT_EQ((*group)->written(plimsoll::testing::clock_now()), std::nullopt);
  const std::string file = "/var/tmp/plimsoll-written-" + std::to_string(::getpid());
  const Started writer = plimsoll::testing::start(leaf, {"write_file", file, "5"});
  ASSERT_TRUE(plimsoll::testing::wait_ready(writer)) << "it has entered the group above";
  ASSERT_TRUE(v2.write("outer/inner/cgroup.procs", std::to_string(writer.pid)));
  EXPECT_TRUE(eventually([&] {
    const auto seen = (*group)->written(plimsoll::testing::clock_now());
    return seen && *seen >= 5_MiB;
  }));
}

// Whose child was born since the last reading: it is found while its parent stands still.
TEST_F(GuestPlaceTest, AChildThatNobodyHasReadIsStoppedAndKilled) {
  PREPARE_OR_SKIP(plimsoll::testing::kHybrid);
  const cgroup::Leaf leaf = ground_->leaf("job");
  const Started parent = plimsoll::testing::start(leaf, {"forkbomb", "2", "sleep"});
  auto process_set = open_processes({parent.pid}, {.uid = ::geteuid()}, look, signals);
  ASSERT_TRUE(process_set) << process_set.error().message();
  int child = 0;
  EXPECT_TRUE(eventually([&] {
    const auto table = look->proc().read_table();
    for (const auto& [pid, stat] : *table) {
      if (stat.parent == parent.pid) child = pid;
    }
    return child != 0;
  }));
  const Instant now = plimsoll::testing::clock_now();
  (*process_set)->kill(now);
  EXPECT_TRUE(eventually([&] { return state_of(parent.pid) == 'T'; })) << "not killed yet";
  EXPECT_NE(state_of(child), 'T');
  (*process_set)->kill(now);
  EXPECT_FALSE(is_dead(parent.pid)) << "nobody has read them since they stand still";
  // A reading that begins once they have had the last SIGSTOP, which may be on its way.
  EXPECT_TRUE(eventually([&] {
    read();
    (*process_set)->kill(now);
    return is_dead(parent.pid) && is_dead(child);
  }));
}

// The loop has others to serve: who calls spends less than a signal to each would take.
TEST_F(GuestPlaceTest, ThousandsAreSignalledElsewhere) {
  PREPARE_OR_SKIP(plimsoll::testing::kHybrid);
  constexpr std::size_t kMany = 300;
  const cgroup::Leaf leaf = ground_->leaf("job");
  const Started parent =
      plimsoll::testing::start(leaf, {"forkbomb", std::to_string(kMany), "sleep"});
  auto process_set = open_processes({parent.pid}, {.uid = ::geteuid()}, look, signals);
  ASSERT_TRUE(process_set) << process_set.error().message();
  std::vector<procfs::Stat> all;
  EXPECT_TRUE(eventually([&] {
    all.clear();
    const auto table = look->proc().read_table();
    for (const auto& [pid, stat] : *table) {
      if (stat.parent == parent.pid) all.push_back(stat);
    }
    return all.size() >= kMany - 1;
  }));
  read();
  EXPECT_TRUE(eventually([&] {
    (*process_set)->thaw();
    const Duration each =
        spent_on([&] { procfs::send_to(look->proc(), all, SIGCONT, ::geteuid()); });
    return spent_on([&] { (*process_set)->freeze(); }) < each / 3;
  }));
  EXPECT_TRUE(eventually([&] {
    return std::ranges::all_of(all, [](const auto& stat) { return state_of(stat.id.pid) == 'T'; });
  }));
}

// What a process uses counts once, however many jobs its user makes of it.
TEST_F(GuestPlaceTest, AProcessIsOneJobs) {
  PREPARE_OR_SKIP(plimsoll::testing::kHybrid);
  const cgroup::Leaf leaf = ground_->leaf("job");
  const Started parent = plimsoll::testing::start(leaf, {"forkbomb", "2", "sleep"});
  auto outer = open_processes({parent.pid}, {.uid = ::geteuid()}, look, signals);
  ASSERT_TRUE(outer);
  const auto twice = open_processes({parent.pid}, {.uid = ::geteuid()}, look, signals);
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().what, HasSubstr("is the first of another job already"));
  int child = 0;
  EXPECT_TRUE(eventually([&] {
    const auto table = look->proc().read_table();
    for (const auto& [pid, stat] : *table) {
      if (stat.parent == parent.pid) child = pid;
    }
    return child != 0;
  }));
  read();
  auto inner = open_processes({child}, {.uid = ::geteuid()}, look, signals);
  ASSERT_TRUE(inner);
  read();
  (*inner)->freeze();
  EXPECT_TRUE(eventually([&] { return state_of(child) == 'T'; }));
  EXPECT_NE(state_of(parent.pid), 'T');
  (*outer)->freeze();
  (*outer)->thaw();
  EXPECT_TRUE(eventually([&] { return state_of(parent.pid) != 'T'; }));
  EXPECT_EQ(state_of(child), 'T') << "it is of the other job";
  // Whose job it was is its job again.
  inner->reset();
  read();
  (*outer)->freeze();
  EXPECT_TRUE(eventually([&] { return state_of(child) == 'T'; }));
}

// Who is in a group that is measured already is stopped and killed with his family, but what he
// uses counts there alone.
TEST_F(GuestPlaceTest, WhoIsInAMeasuredGroupIsNotMeasuredOnceMore) {
  PREPARE_OR_SKIP(plimsoll::testing::kHybrid);
  const cgroup::Leaf leaf = ground_->leaf("job");
  const Started hog = plimsoll::testing::start(leaf, {"hog", "40"});
  auto process_set = open_processes({hog.pid}, {.uid = ::geteuid()}, look, signals);
  ASSERT_TRUE(process_set) << process_set.error().message();
  const auto used = [&] { return (*process_set)->look(plimsoll::testing::clock_now()).used; };
  EXPECT_TRUE(eventually([&] {
    read();
    return used() > 35_MiB;
  }));
  const std::string path = path_of(leaf);
  for (const std::string& group : {path, path.substr(0, path.rfind('/'))}) {
    MeasuredGroups measured;
    measured.add(group);
    read(measured);
    EXPECT_EQ(used(), Bytes{}) << group;
  }
  MeasuredGroups elsewhere;
  elsewhere.add(path + "/below");
  read(elsewhere);
  EXPECT_GT(used(), 35_MiB);
  (*process_set)->freeze();
  EXPECT_TRUE(eventually([&] { return state_of(hog.pid) == 'T'; }));
}

// Keeps the thread of signals busy until it is told.
class Obstacle final : public ProcessSignals::Task {
 public:
  Obstacle() : Task(::geteuid()) {}
  void clear() { is_cleared_.set_value(); }

 private:
  bool step() override {
    is_cleared_.get_future().wait();
    return false;
  }

  std::promise<void> is_cleared_;
};

// Whatever is asked for while SIGKILL is on its way to a family: it reaches all.
TEST_F(GuestPlaceTest, AKillIsNotReplacedBeforeAllHadIt) {
  PREPARE_OR_SKIP(plimsoll::testing::kHybrid);
  const cgroup::Leaf leaf = ground_->leaf("job");
  const Started hog = plimsoll::testing::start(leaf, {"hog", "1"});
  auto process_set = open_processes({hog.pid}, {.uid = ::geteuid()}, look, signals);
  ASSERT_TRUE(process_set) << process_set.error().message();
  (*process_set)->freeze();
  EXPECT_TRUE(eventually([&] { return state_of(hog.pid) == 'T'; }));
  const auto obstacle = std::make_shared<Obstacle>();
  signals.ask(obstacle);
  const Instant now = plimsoll::testing::clock_now();
  (*process_set)->kill(now);
  (*process_set)->kill(now + std::chrono::seconds(2));
  (*process_set)->thaw();
  (*process_set)->freeze();
  process_set->reset();  // thaws too
  obstacle->clear();
  EXPECT_TRUE(eventually([&] { return is_dead(hog.pid); }));
}

// Whose place is let go between the kill and the reading that it waits for.
TEST_F(GuestPlaceTest, AKillOutlivesThePlace) {
  PREPARE_OR_SKIP(plimsoll::testing::kHybrid);
  const cgroup::Leaf leaf = ground_->leaf("job");
  const Started hog = plimsoll::testing::start(leaf, {"hog", "1"});
  auto process_set = open_processes({hog.pid}, {.uid = ::geteuid()}, look, signals);
  ASSERT_TRUE(process_set) << process_set.error().message();
  (*process_set)->kill(plimsoll::testing::clock_now());
  process_set->reset();
  EXPECT_TRUE(eventually([&] { return is_dead(hog.pid); }));
}

// A process that can't be read for ever keeps nobody alive.
TEST_F(GuestPlaceTest, WithoutAReadingItIsKilledAfterAWhile) {
  PREPARE_OR_SKIP(plimsoll::testing::kHybrid);
  const cgroup::Leaf leaf = ground_->leaf("job");
  const Started hog = plimsoll::testing::start(leaf, {"hog", "1"});
  auto process_set = open_processes({hog.pid}, {.uid = ::geteuid()}, look, signals);
  ASSERT_TRUE(process_set);
  const Instant now = plimsoll::testing::clock_now();
  (*process_set)->kill(now);
  (*process_set)->kill(now + std::chrono::seconds(1));
  EXPECT_FALSE(is_dead(hog.pid));
  (*process_set)->kill(now + std::chrono::seconds(2));
  EXPECT_TRUE(eventually([&] { return is_dead(hog.pid); }));
}

// A thousand external jobs on a machine of a thousand processes are a thousand files to read, not a
// million.
TEST_F(GuestPlaceTest, OneReadingOfTheProcessesIsForAllFamilies) {
  PREPARE_OR_SKIP(plimsoll::testing::kHybrid);
  const cgroup::Leaf leaf = ground_->leaf("job");
  std::vector<Started> hogs;
  std::vector<std::unique_ptr<ExternalProcessSet>> process_sets;
  EXPECT_FALSE(look->has_families());
  for (int i = 0; i < 20; ++i) {
    hogs.push_back(plimsoll::testing::start(leaf, {"hog", "9"}));
    const int pid = hogs.back().pid;
    process_sets.push_back(std::move(*open_processes({pid}, {.uid = ::geteuid()}, look, signals)));
  }
  EXPECT_TRUE(look->has_families());
  const auto all_see = [&] {
    const Instant now = plimsoll::testing::clock_now();
    read();
    std::size_t seen = 0;
    for (const auto& process_set : process_sets) {
      if (process_set->look(now).used.value_or(Bytes{}) > 8_MiB) ++seen;
    }
    return seen == process_sets.size();
  };
  EXPECT_TRUE(eventually(all_see));
  const std::uint64_t before = look->begun();
  EXPECT_TRUE(eventually([&] {
    const Instant now = plimsoll::testing::clock_now();
    for (const auto& process_set : process_sets) process_set->kill(now);
    if (look->begun() == before) read();
    return std::ranges::all_of(hogs, [](const Started& hog) { return is_dead(hog.pid); });
  }));
  process_sets.clear();
  EXPECT_FALSE(look->has_families());
}

TEST_F(GuestPlaceTest, OnlyTheOwnersPlacesAreOpened) {
  PREPARE_OR_SKIP(plimsoll::testing::kHybrid);
  const cgroup::Leaf leaf = ground_->leaf("job");
  const std::string path = path_of(leaf);
  const Peer stranger{.uid = 12'345};
  const Peer remote{.where = PeerPlace::remote};
  const auto group = open_group({path}, stranger, hierarchies, "", signals);
  ASSERT_FALSE(group);
  EXPECT_EQ(group.error().code, std::errc::permission_denied);
  EXPECT_FALSE(open_group({path}, remote, hierarchies, "", signals));
  const auto processes = open_processes({::getpid()}, stranger, look, signals);
  ASSERT_FALSE(processes);
  EXPECT_THAT(processes.error().message(), HasSubstr("not to the client's uid 12345"));
  EXPECT_FALSE(open_processes({::getpid()}, remote, look, signals));
  const auto own = open_group({path}, {}, hierarchies, path.substr(0, path.rfind('/')), signals);
  ASSERT_FALSE(own);
  EXPECT_THAT(own.error().message(), HasSubstr("is Plimsoll's own"));
}

TEST_F(GuestPlaceTest, PathsAreNothingElse) {
  for (const char* bad :
       {"", "/", "job", "/a/../b", "/..", "/a//b", "/./a", "/nonexistent-group"}) {
    const auto opened = open_group({bad}, {}, hierarchies, "", signals);
    ASSERT_FALSE(opened) << bad;
    EXPECT_EQ(opened.error().code, std::errc::invalid_argument) << bad;
  }
  for (const int bad : {-1, 0, 1, 1 << 30})
    EXPECT_FALSE(open_processes({bad}, {}, look, signals)) << bad;
}

}  // namespace
}  // namespace plimsoll::supervisor

// What the daemon does at an external job's place when it is root and its client is not: what the
// client could do himself, and no more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>

#include "host/supervisor/places.h"
#include "kernel/cgroup/destroy.h"
#include "kernel/cgroup/kill.h"
#include "kernel/cgroup/signals.h"
#include "supervisor/external/external_process_set.h"
#include "support/host_test.h"

namespace plimsoll::supervisor {
namespace {

using plimsoll::testing::clock_now;
using plimsoll::testing::eventually;
using plimsoll::testing::is_dead;
using plimsoll::testing::spent_on;
using plimsoll::testing::state_of;
using ::testing::Contains;
using ::testing::Pair;

constexpr uid_t kClient = 65'534;
constexpr int kRounds = 10;  // of a kill, more than it takes to signal and to freeze

struct GuestRightsTest : plimsoll::testing::HostTest {
  // As an administrator delegates, with this much in the limits: directories are the client's.
  bool delegate(const plimsoll::testing::Way& way) {
    if (::geteuid() != 0 || !prepare(way)) return false;
    leaf_.emplace(ground_->leaf("job"));
    for (const auto& part : leaf_->parts()) {
      if (::fchown(part.directory.fd(), kClient, kClient) != 0) return false;
      for (const auto& [file, text] : {std::pair("pids.max", "50"), {"cpu.max", "20000"}}) {
        if (part.directory.has_file(file)) (void)part.directory.write(file, text);
      }
      if (part.directory.has_file("cpu.cfs_quota_us")) {
        (void)part.directory.write("cpu.cfs_quota_us", "20000");
      }
    }
    return true;
  }

  void give(const std::string& file) {
    for (const auto& part : leaf_->parts()) {
      (void)::fchownat(part.directory.fd(), file.c_str(), kClient, kClient, 0);
    }
  }

  // All that can be read, but for counters.
  std::map<std::string, std::string> limits() {
    std::map<std::string, std::string> texts;
    for (const auto& part : leaf_->parts()) {
      for (const char* file :
           {"pids.max", "cpu.max", "cpu.weight", "cpu.shares", "cpu.cfs_quota_us", "memory.high",
            "memory.max", "memory.limit_in_bytes", "cgroup.freeze", "freezer.state"}) {
        if (auto text = part.directory.read(file)) texts[file] = *text;
      }
    }
    return texts;
  }

  int sleeper(uid_t uid) {
    const int pid = ::fork();
    if (pid == 0) {
      const bool is_there = cgroup::move_process(*leaf_, 0) && ::setresuid(uid, uid, uid) == 0;
      while (is_there) ::pause();
      ::_exit(1);
    }
    EXPECT_TRUE(eventually([pid] { return state_of(pid) == 'S'; }));
    return pid;
  }

  std::unique_ptr<ExternalProcessSet> open() {
    const std::string path = plimsoll::testing::path_of(*leaf_, hierarchies_);
    auto process_set =
        open_group({path}, {.uid = kClient, .gid = kClient}, hierarchies_, "", signals_);
    EXPECT_TRUE(process_set) << process_set.error().message();
    return process_set ? std::move(*process_set) : nullptr;
  }

  void TearDown() override {
    leaf_.reset();
    if (ground_) {
      (void)cgroup::destroy(ground_->inner().parts(), "job", clock_now() + testing::kPatience,
                            &clock_now);
    }
    HostTest::TearDown();
  }

  cgroup::Hierarchies hierarchies_ = *cgroup::discover_hierarchies();
  std::optional<cgroup::Leaf> leaf_;
  loop::Loop loop_ = *loop::Loop::create();
  ProcessSignals signals_{loop_};
};

#define DELEGATE_OR_SKIP(way) \
  if (!delegate(way)) GTEST_SKIP() << "root alone delegates: " << skipped_

TEST_F(GuestRightsTest, LimitsThatAreNotTheClientsStayAsTheyAre) {
  for (const auto& way : {plimsoll::testing::kHybrid, plimsoll::testing::kV1}) {
    SCOPED_TRACE(way.name);
    DELEGATE_OR_SKIP(way);
    const auto before = limits();
    const int of_root = sleeper(0);
    const int of_client = sleeper(kClient);
    {
      const auto process_set = open();
      ASSERT_TRUE(process_set);
      process_set->weigh(10'000);
      for (int round = 0; round < kRounds; ++round) process_set->kill(clock_now());
      EXPECT_TRUE(eventually([&] { return is_dead(of_client); }));
      EXPECT_FALSE(is_dead(of_root)) << "the client could not have killed it";
      EXPECT_EQ(limits(), before);
    }
    EXPECT_EQ(limits(), before);
    TearDown();
  }
}

TEST_F(GuestRightsTest, AWeightThatIsTheClientsIsSetAndPutBack) {
  DELEGATE_OR_SKIP(plimsoll::testing::kHybrid);
  give("cpu.shares");
  give("cpu.weight");
  const auto before = limits();
  auto process_set = open();
  ASSERT_TRUE(process_set);
  process_set->weigh(50);
  process_set->weigh(200);
  EXPECT_THAT(limits(), ::testing::AnyOf(Contains(Pair("cpu.weight", "200\n")),
                                         Contains(Pair("cpu.shares", "2048\n"))));
  process_set.reset();
  EXPECT_EQ(limits(), before);
}

TEST_F(GuestRightsTest, WhereTheFreezerIsNotTheClientsHisProcessesAreStoppedOneByOne) {
  DELEGATE_OR_SKIP(plimsoll::testing::kHybrid);
  const int of_root = sleeper(0);
  const int of_client = sleeper(kClient);
  auto process_set = open();
  ASSERT_TRUE(process_set);
  process_set->freeze();
  EXPECT_TRUE(eventually([&] { return state_of(of_client) == 'T'; }));
  EXPECT_EQ(limits().at("cgroup.freeze"), "0\n");
  const int born_since = sleeper(kClient);
  // At one of the next looks: what was signalled just now is not signalled again at once.
  EXPECT_TRUE(eventually([&] {
    (void)process_set->look(clock_now());
    return state_of(born_since) == 'T';
  }));
  EXPECT_EQ(state_of(of_root), 'S');
  process_set.reset();
  EXPECT_TRUE(
      eventually([&] { return state_of(of_client) == 'S' && state_of(born_since) == 'S'; }));
}

// The loop has others to serve: who calls spends less than a signal to each would take.
TEST_F(GuestRightsTest, ThousandsOfAGroupAreSignalledElsewhere) {
  DELEGATE_OR_SKIP(plimsoll::testing::kHybrid);
  constexpr std::size_t kMany = 300;
  for (const auto& part : leaf_->parts()) {
    if (part.directory.has_file("pids.max")) (void)part.directory.write("pids.max", "max");
  }
  std::vector<int> all;
  std::generate_n(std::back_inserter(all), kMany, [this] { return sleeper(kClient); });
  const auto all_are = [&all](char state) {
    return std::ranges::all_of(all, [state](int pid) { return state_of(pid) == state; });
  };
  auto process_set = open();
  ASSERT_TRUE(process_set);
  Duration each{};
  EXPECT_TRUE(eventually([&] {
    each = spent_on([&] { cgroup::signal_all(*leaf_, SIGCONT, kClient); });
    const Duration freezing = spent_on([&] { process_set->freeze(); });
    EXPECT_TRUE(eventually([&] { return all_are('T'); }));
    const Duration thawing = spent_on([&] { process_set->thaw(); });
    EXPECT_TRUE(eventually([&] { return all_are('S'); }));
    return std::max(freezing, thawing) < each / 3;
  }));
  EXPECT_LT(spent_on([&] { process_set->kill(clock_now()); }), each);
  EXPECT_TRUE(eventually([&] { return std::ranges::all_of(all, is_dead); }));
}

// Its end is asked for and goes on when nobody holds the place any more.
TEST_F(GuestRightsTest, WhoIsKilledWhileStoppedIsNotLetGo) {
  DELEGATE_OR_SKIP(plimsoll::testing::kHybrid);
  const int of_client = sleeper(kClient);
  auto process_set = open();
  ASSERT_TRUE(process_set);
  process_set->freeze();
  process_set->kill(clock_now());
  process_set.reset();
  EXPECT_TRUE(eventually([&] { return is_dead(of_client); }));
}

// Nor is who waits for the freezer, by which many are killed.
TEST_F(GuestRightsTest, WhoIsToBeKilledOnceFrozenIsNotLetGo) {
  DELEGATE_OR_SKIP(plimsoll::testing::kHybrid);
  give("cgroup.freeze");
  give("freezer.state");
  for (const bool is_paused : {false, true}) {
    std::vector<int> all;
    std::generate_n(std::back_inserter(all), cgroup::Kill::kOutrightMax + 10,
                    [this] { return sleeper(kClient); });
    auto process_set = open();
    ASSERT_TRUE(process_set);
    if (is_paused) process_set->freeze();
    process_set->kill(clock_now());
    process_set.reset();
    EXPECT_TRUE(eventually([&] { return std::ranges::all_of(all, is_dead); }));
  }
}

TEST_F(GuestRightsTest, OfAFamilyOnlyThoseAreSignalledWhomTheClientMaySignal) {
  DELEGATE_OR_SKIP(plimsoll::testing::kHybrid);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  // Root's child of the client's process, as of one who has become root by su(1).
  const int of_client = ::fork();
  if (of_client == 0) {
    const int of_root = ::fork();
    if (of_root != 0) {
      const bool is_another = ::setresuid(kClient, kClient, kClient) == 0;
      if (!is_another || ::write(ends[1], &of_root, sizeof of_root) < 0) ::_exit(1);
    }
    for (;;) ::pause();
  }
  int of_root = 0;
  ASSERT_EQ(::read(ends[0], &of_root, sizeof of_root), static_cast<ssize_t>(sizeof of_root));
  ::close(ends[0]);
  ::close(ends[1]);
  const auto look = *ProcessSnapshot::open();
  const auto read = [&look] {
    ProcessReading reading = look->begin();
    reading.read(clock_now());
    look->take(reading);
  };
  auto process_set = open_processes({of_client}, {.uid = kClient, .gid = kClient}, look, signals_);
  ASSERT_TRUE(process_set) << process_set.error().message();
  read();
  (*process_set)->freeze();
  EXPECT_TRUE(eventually([&] { return state_of(of_client) == 'T'; }));
  EXPECT_NE(state_of(of_root), 'T');
  EXPECT_TRUE(eventually([&] {
    (*process_set)->kill(clock_now());
    read();
    return is_dead(of_client);
  }));
  EXPECT_FALSE(is_dead(of_root));
  ::kill(of_root, SIGKILL);
}

}  // namespace
}  // namespace plimsoll::supervisor

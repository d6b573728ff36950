#include "supervisor/processes/cgroup_process_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "unit/kernel/counters/fake_group.h"
#include "unit/supervisor/model_guardian.h"

// A group of files that the test writes as the kernel would, with a guardian that is the test's.
// Its list of processes stays empty, as whoever it named would be killed.
namespace plimsoll::supervisor {
namespace {

using namespace std::chrono_literals;
using cgroup::Controller;
using cgroup::ControllerSet;
using cgroup::Version;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

class CgroupProcessSetTest : public testing::Test {
 protected:
  CgroupProcessSetTest() {
    std::filesystem::create_directories(at("v1/job-1"));
    std::filesystem::create_directories(at("v2/job-1"));
    for (const char* file : {"cgroup.procs", "cgroup.freeze", "cgroup.kill", "cpu.max"}) {
      write(file, "");
    }
    are_in_it(true);
  }

  // Of processes in the group.
  void are_in_it(bool populated) const {
    write("cgroup.events", populated ? "populated 1\nfrozen 0\n" : "populated 0\nfrozen 0\n");
  }
  // Nobody lives in it, and rmdir takes it, as of a real group, whatever its files.
  void ends() const {
    are_in_it(false);
    for (const auto& file : std::filesystem::directory_iterator(at("v2/job-1"))) {
      if (file.path().filename() != "cgroup.events") std::filesystem::remove(file);
    }
  }

  CgroupProcessSet& make(const Limits& limits = {}, bool with_v1_memory = false) {
    std::vector<cgroup::Group::Part> parts;
    parts.push_back({*cgroup::Directory::open(at("v2/job-1"), Version::v2),
                     with_v1_memory ? ControllerSet() : ControllerSet(Controller::cpu)});
    if (with_v1_memory) {
      write("../../v1/job-1/cgroup.procs", "");
      write("../../v1/job-1/memory.oom_control", "");
      write("../../v1/job-1/cgroup.event_control", "");
      parts.push_back({*cgroup::Directory::open(at("v1/job-1"), Version::v1),
                       ControllerSet(Controller::memory)});
    }
    auto group = std::make_shared<const cgroup::Leaf>("job-1", std::move(parts));
    counters::GroupFiles files(*group);
    return make({.group = std::move(group), .limits = limits, .files = std::move(files)});
  }
  CgroupProcessSet& make(JobGroup group) {
    const CgroupProcessSet::Deps deps{guardian_, loop_, worker_, network_};
    set_.emplace(deps, listener_, std::move(group), CgroupProcessSet::Around{.stock = &stock_});
    return *set_;
  }
  CgroupProcessSet& run() {
    make();
    EXPECT_TRUE(set_->spawn({}));
    guardian_.born();
    listener_.take();
    return *set_;
  }

  // Turns of the loop until it is told.
  void await(const std::string& what) {
    const Instant end = loop::now() + 60s;
    while (loop::now() < end && !testing::Value(listener_.told, Contains(what))) {
      ASSERT_TRUE(loop_.run_once(10ms));
    }
    ASSERT_THAT(listener_.told, Contains(what));
  }

  std::filesystem::path at(const std::string& path) const { return root_.path() / path; }
  void write(const std::string& file, const std::string& text) const {
    std::ofstream(at("v2/job-1/" + file)) << text;
  }
  std::string read(const std::string& file) const {
    std::ostringstream text;
    text << std::ifstream(at("v2/job-1/" + file)).rdbuf();
    return text.str();
  }

  const counters::FakeDirectory root_{Version::v2};
  loop::Loop loop_ = std::move(*loop::Loop::create());
  loop::Worker worker_{loop_};
  counters::Network network_{"off in this test"};
  model::Guardian guardian_;
  model::Listener listener_;
  GroupStock stock_;
  std::optional<CgroupProcessSet> set_;
};

TEST_F(CgroupProcessSetTest, ItsMainProcessIsBornInTheGroupAndToldOf) {
  make();
  guardian::SpawnRequest request;
  request.argv = {"true"};
  ASSERT_TRUE(set_->spawn(std::move(request)));
  EXPECT_THAT(guardian_.into, ElementsAre("job-1"));
  EXPECT_THAT(guardian_.asked.front().argv, ElementsAre("true"));
  guardian_.born();
  guardian_.exited(3);
  EXPECT_THAT(listener_.take(), ElementsAre("started 4711", "exited 3"));
}

TEST_F(CgroupProcessSetTest, AGuardianThatCanNotBeAskedIsAnErrorAndNothingIsToldOf) {
  guardian_.no_spawn = Error{std::errc::broken_pipe, "send to the guardian"};
  EXPECT_FALSE(make().spawn({}));
  EXPECT_THAT(listener_.take(), IsEmpty());
}

TEST_F(CgroupProcessSetTest, AFreezeHoldsWhoIsBornLaterAndIsUndoneByAThaw) {
  make().freeze();
  EXPECT_EQ(read("cgroup.freeze"), "1");
  ASSERT_TRUE(set_->spawn({}));
  guardian_.born();
  EXPECT_EQ(read("cgroup.freeze"), "1");
  set_->freeze();
  set_->thaw();
  EXPECT_EQ(read("cgroup.freeze"), "0") << "one thaw undoes two freezes";
}

TEST_F(CgroupProcessSetTest, WhoDestroysItLeavesNobodyFrozen) {
  run().freeze();
  set_.reset();
  EXPECT_EQ(read("cgroup.freeze"), "0");
}

TEST_F(CgroupProcessSetTest, AQuotaIsLiftedAsLongAsItIsFrozen) {
  Limits limits;
  limits.cpus = 1.5;
  make(limits).freeze();
  EXPECT_EQ(read("cpu.max"), "max");
  set_->thaw();
  EXPECT_EQ(read("cpu.max"), "150000 100000");
}

TEST_F(CgroupProcessSetTest, AGroupThatVanishesIsEmptyAndGone) {
  run();
  std::filesystem::remove_all(at("v2/job-1"));
  const Instant now = loop::now();
  set_->freeze();
  set_->signal_all(SIGTERM);
  (void)set_->sample(now, WallTime(1s), counters::Level::full, counters::SampleState::running);
  set_->reap(reap::LeftBehind::list);
  EXPECT_THAT(listener_.take(), ElementsAre("empty"));
  (void)set_->finish(now, WallTime(1s));
  await("gone");
  EXPECT_FALSE(listener_.end->left);
  EXPECT_FALSE(listener_.end->killed);
}

TEST_F(CgroupProcessSetTest, AStatusThatComesWhenTheGroupIsGoneIsStillToldOf) {
  run();
  ends();
  set_->reap(reap::LeftBehind::list);
  write("cgroup.events", "");
  std::filesystem::remove(at("v2/job-1/cgroup.events"));
  await("gone");
  EXPECT_FALSE(listener_.end->killed);
  guardian_.exited(0);
  EXPECT_THAT(listener_.take(), ElementsAre("empty", "gone", "exited 0"));
}

TEST_F(CgroupProcessSetTest, AGroupThatIsLeftAsNewIsForTheNextJob) {
  write("cpu.stat", "usage_usec 900\nuser_usec 600\nsystem_usec 300\n");
  run();
  are_in_it(false);
  set_->reap(reap::LeftBehind::list);
  EXPECT_THAT(listener_.take(), ElementsAre("empty", "gone"));
  EXPECT_FALSE(listener_.end->killed);
  Limits other;
  other.memory_max = Bytes{1};
  EXPECT_FALSE(stock_.take(other, "job-2")) << "with other limits";
  auto again = stock_.take({}, "job-2");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->group->name(), "job-1");
  EXPECT_EQ(stock_.job_in("job-1"), "job-2");
  EXPECT_FALSE(stock_.take({}, "job-3")) << "it was the only one";
  set_.reset();
  EXPECT_EQ(stock_.job_in("job-1"), "job-2") << "the first one's end changes nothing";
  make(std::move(*again));
  ASSERT_TRUE(set_->spawn({}));
  guardian_.born();
  listener_.take();
  are_in_it(false);
  set_->reap(reap::LeftBehind::list);
  EXPECT_THAT(listener_.take(), ElementsAre("empty", "gone"));
  EXPECT_EQ(stock_.job_in("job-1"), "job-1") << "nobody's now";
  std::filesystem::remove(at("v2/job-1/cgroup.procs"));
  EXPECT_FALSE(stock_.take({}, "job-3")) << "somebody has removed it";
}

TEST_F(CgroupProcessSetTest, OneThatWasLookedAtIsRemoved) {
  write("cpu.stat", "usage_usec 900\nuser_usec 600\nsystem_usec 300\n");
  run();
  (void)set_->sample(loop::now(), WallTime(1s), counters::Level::full,
                     counters::SampleState::running);
  ends();
  set_->reap(reap::LeftBehind::list);
  EXPECT_THAT(listener_.take(), ElementsAre("empty"));
  std::filesystem::remove(at("v2/job-1/cgroup.events"));
  await("gone");
  EXPECT_FALSE(stock_.take({}, "job-2"));
}

TEST_F(CgroupProcessSetTest, OneThatWasFrozenIsRemoved) {
  run().freeze();
  set_->thaw();
  ends();
  set_->reap(reap::LeftBehind::list);
  EXPECT_THAT(listener_.take(), ElementsAre("empty"));
  std::filesystem::remove(at("v2/job-1/cgroup.events"));
  await("gone");
  EXPECT_FALSE(stock_.take({}, "job-2"));
}

TEST_F(CgroupProcessSetTest, OneWhoseJobWasEndedIsRemoved) {
  run();
  ends();
  set_->reap(reap::LeftBehind::skip);
  EXPECT_THAT(listener_.take(), ElementsAre("empty"));
  std::filesystem::remove(at("v2/job-1/cgroup.events"));
  await("gone");
  EXPECT_FALSE(stock_.take({}, "job-2"));
}

TEST_F(CgroupProcessSetTest, AGroupWithAQuotaIsNotKept) {
  write("cpu.stat", "usage_usec 900\nuser_usec 600\nsystem_usec 300\n");
  Limits limits;
  limits.cpus = 1.5;
  make(limits);
  ASSERT_TRUE(set_->spawn({}));
  guardian_.born();
  listener_.take();
  ends();
  set_->reap(reap::LeftBehind::list);
  EXPECT_THAT(listener_.take(), ElementsAre("empty")) << "it is being removed";
  EXPECT_FALSE(stock_.take(limits, "job-2"));
}

TEST_F(CgroupProcessSetTest, TheStockIsBounded) {
  write("cpu.stat", "usage_usec 900\nuser_usec 600\nsystem_usec 300\n");
  for (std::size_t i = 0; i <= GroupStock::kGroupsMax; ++i) {
    std::vector<cgroup::Group::Part> parts;
    parts.push_back({*cgroup::Directory::open(at("v2/job-1"), Version::v2), {}});
    auto group = std::make_shared<const cgroup::Leaf>("job-1", std::move(parts));
    counters::GroupFiles files(*group);
    files.read_last(loop::now());
    EXPECT_EQ(stock_.put({.group = std::move(group), .files = std::move(files)}, loop::now()),
              i < GroupStock::kGroupsMax);
  }
  EXPECT_FALSE(stock_.take_displaced());
  std::vector<cgroup::Group::Part> parts;
  parts.push_back({*cgroup::Directory::open(at("v2/job-1"), Version::v2), {}});
  auto group = std::make_shared<const cgroup::Leaf>("job-1", std::move(parts));
  counters::GroupFiles files(*group);
  files.read_last(loop::now());
  Limits weighed;
  weighed.cpu_weight = 7;
  EXPECT_TRUE(stock_.put({.group = std::move(group), .limits = weighed, .files = std::move(files)},
                         loop::now()))
      << "the first of its kind";
  EXPECT_TRUE(stock_.take_displaced());
  EXPECT_TRUE(stock_.take(weighed, "job-2"));
}

TEST_F(CgroupProcessSetTest, WhoIsThereIsKilledUntilNobodyIs) {
  run();
  set_->reap(reap::LeftBehind::skip);
  EXPECT_EQ(read("cgroup.kill"), "1");
  EXPECT_THAT(listener_.take(), IsEmpty());
  ends();
  await("empty");
  std::filesystem::remove(at("v2/job-1/cgroup.events"));
  await("gone");
  EXPECT_TRUE(listener_.end->killed);
  EXPECT_FALSE(std::filesystem::exists(at("v2/job-1")));
}

TEST_F(CgroupProcessSetTest, AKillThatDoesNotTakeIsToldOfAndEndsWhenItIsGivenUp) {
  run();
  set_->give_up_removal();  // nothing is being removed yet
  set_->reap(reap::LeftBehind::skip);
  await("stuck 0");
  EXPECT_THAT(listener_.told, Not(Contains("gone")));
  set_->give_up_removal();
  await("gone");
  EXPECT_THAT(listener_.told, Not(Contains("empty")));
  EXPECT_GE(listener_.end->until_gone, 1s);
}

// Processes of this test that take no USR1.
struct Deaf {
  explicit Deaf(std::size_t count) {
    sigset_t usr1, before;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr1, &before);  // theirs from their birth on
    for (std::size_t i = 0; i < count; ++i) {
      const pid_t pid = ::fork();
      while (pid == 0) ::pause();
      pids.push_back(pid);
    }
    sigprocmask(SIG_SETMASK, &before, nullptr);
  }
  Deaf(const Deaf&) = delete;
  Deaf& operator=(const Deaf&) = delete;
  ~Deaf() {
    for (const pid_t pid : pids) ::kill(pid, SIGKILL);
    for (const pid_t pid : pids) ::waitpid(pid, nullptr, 0);
  }
  [[nodiscard]] std::string list() const {
    std::string text;
    for (const pid_t pid : pids) text += std::to_string(pid) + "\n";
    return text;
  }
  // How many have been sent it.
  [[nodiscard]] std::size_t sent() const {
    return static_cast<std::size_t>(std::count_if(pids.begin(), pids.end(), [](pid_t pid) {
      std::ifstream status("/proc/" + std::to_string(pid) + "/status");
      for (std::string line; std::getline(status, line);) {
        if (line.starts_with("ShdPnd:")) return line.ends_with("0200");  // the bit of SIGUSR1
      }
      return false;
    }));
  }
  std::vector<pid_t> pids;
};

TEST_F(CgroupProcessSetTest, ManyAreSignalledBitByBit) {
  constexpr std::size_t kMany = 600;
  const Deaf all(kMany);
  make();
  write("cgroup.procs", all.list());
  set_->signal_all(SIGUSR1);
  EXPECT_GT(all.sent(), 0U);
  EXPECT_LT(all.sent(), kMany);
  const Instant end = loop::now() + 60s;
  while (loop::now() < end && all.sent() < kMany) ASSERT_TRUE(loop_.run_once(10ms));
  EXPECT_EQ(all.sent(), kMany);
}

TEST_F(CgroupProcessSetTest, OnV1TheKernelTellsOfALimitThatWasHit) {
  Limits limits;
  limits.memory_max = Bytes{1 << 20};
  make(limits, true);
  EXPECT_EQ(set_->watch_oom(), OomKills::singly);
  EXPECT_TRUE(set_->own_ooms().are_seen);
  int event = -1;  // as the kernel is told of it: "EVENTFD OOM_CONTROL"
  std::ifstream(at("v1/job-1/cgroup.event_control")) >> event;
  const std::uint64_t two = 2;
  ASSERT_EQ(::write(event, &two, sizeof two), static_cast<ssize_t>(sizeof two));
  await("oom");
  EXPECT_EQ(set_->own_ooms().count, 2u);
}

TEST_F(CgroupProcessSetTest, OnV1ALimitThatCanNotBeWatchedIsNotSeen) {
  Limits limits;
  limits.memory_max = Bytes{1 << 20};
  make(limits, true);
  std::filesystem::remove(at("v1/job-1/memory.oom_control"));
  EXPECT_EQ(set_->watch_oom(), OomKills::singly);
  EXPECT_FALSE(set_->own_ooms().are_seen);
}

}  // namespace
}  // namespace plimsoll::supervisor

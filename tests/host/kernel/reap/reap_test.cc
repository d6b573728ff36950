#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/loop/loop.h"
#include "base/loop/worker.h"
#include "base/text.h"
#include "kernel/cgroup/destroy.h"
#include "kernel/cgroup/freeze.h"
#include "kernel/cgroup/processes.h"
#include "kernel/reap/reaper.h"
#include "support/host_test.h"

// Reaping of misbehaving programs in real groups. At the end of each test no process, no group and
// no descriptor of it may be left.
namespace plimsoll::testing {
namespace {

using namespace std::chrono_literals;
using cgroup::Controller;
using cgroup::KillWay;
using reap::Reaped;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// What a reaper told while it reaped one group.
struct Story {
  std::optional<Reaped> gone;
  int told_empty = 0;
  bool existed_when_empty = false;
  std::vector<reap::Stuck> stuck;
};

class Reaping : private reap::ReaperObserver {
 public:
  explicit Reaping(KillWay way, cgroup::Leaf leaf, reap::LeftBehind list = reap::LeftBehind::list)
      : group_(std::make_shared<cgroup::Group>(std::move(leaf))),
        reaper_(loop_, worker_, group_, {.left_behind = list, .way = way}, *this) {}

  // Runs the loop until `done`, at most kPatience.
  template <class Done>
  bool run_until(const Done& done) {
    const Instant end = loop::now() + kPatience;
    while (!done() && loop::now() < end) turn();
    return done();
  }

  const Story& run() {
    measured([this] { reaper_.start(); });
    EXPECT_TRUE(run_until([this] { return story_.gone.has_value(); }))
        << reap::name_of(reaper_.state());
    const auto us = [](Duration d) { return static_cast<int>(d / 1us); };
    if (!story_.gone) return story_;
    ::testing::Test::RecordProperty("us_until_empty", us(story_.gone->until_empty));
    ::testing::Test::RecordProperty("us_until_gone", us(story_.gone->until_gone));
    return story_;
  }
  reap::Reaper& reaper() { return reaper_; }
  [[nodiscard]] Duration dearest_turn() const { return dearest_turn_; }
  const Story& story() const { return story_; }

 private:
  void turn() {
    measured([this] { EXPECT_TRUE(loop_.run_once(10ms)); });
  }
  template <class Work>
  void measured(const Work& work) {
    const Duration before = loop::cpu_time();
    work();
    dearest_turn_ = std::max(dearest_turn_, loop::cpu_time() - before);
  }

  void on_empty() override {
    ++story_.told_empty;
    const auto& top = group_->parts().front().directory;
    const auto members = top.read("cgroup.procs");
    story_.existed_when_empty = members && members->empty();
  }
  void on_stuck(const reap::Stuck& stuck) override { story_.stuck.push_back(stuck); }
  void on_gone(const Reaped& reaped) override { story_.gone = reaped; }

  loop::Loop loop_ = *loop::Loop::create();
  loop::Worker worker_{loop_};
  std::shared_ptr<const cgroup::Group> group_;
  Story story_;
  Duration dearest_turn_{};  // CPU time of this thread
  reap::Reaper reaper_;
};

// Every program that outlives its welcome, in every way in which it can be run.
struct Case {
  Way way;
  std::vector<std::string> command;
};

std::string name_of_case(const ::testing::TestParamInfo<Case>& info) {
  std::string name = info.param.way.name;
  for (const std::string& word : info.param.command) name += "_" + word;
  return name;
}

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.way.name; }

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  const auto add = [&](std::vector<std::string> command, const std::vector<Way>& ways) {
    for (const Way& way : ways) cases.push_back({way, command});
  };
  const std::vector<Way> everywhere = {kHybrid, kV1, kV1Freezer, kV1Bare, kSignals};
  for (const char* program : {"ignore_signals", "stop_self", "vfork_wait", "leader_exit",
                              "fork_for_ever", "close_stdin", "zombies", "burn", "traced"}) {
    add({program}, everywhere);
  }
  add({"double_fork", "5"}, everywhere);
  add({"zombies", "5", "exit"}, everywhere);
  add({"traced", "stopped"}, everywhere);
  add({"hog", "32"}, everywhere);
  add({"hoard_tmpfs", "16"}, everywhere);
  add({"forkbomb", "200", "sleep"}, everywhere);
  add({"forkbomb", "200", "churn"}, everywhere);
  add({"forkbomb", "1000", "sleep"}, everywhere);
  add({"forkbomb", "1000", "churn"}, {kHybrid, kV1, kV1Freezer, kSignals});
  const std::vector<Way> with_v2 = {kHybrid, kSignals};
  add({"wander"}, with_v2);
  add({"nest_groups", "1"}, with_v2);
  add({"nest_groups", "20"}, with_v2);
  add({"nest_groups", "150"}, with_v2);
  add({"nest_groups", "frozen"}, with_v2);
  add({"nest_groups", "threaded"}, with_v2);
  add({"touch_group", "freeze"}, {kV1, kV1Freezer});
  add({"touch_group", "loosen"}, {kHybrid, kV1});
  return cases;
}

class ReapsHost : public HostTest, public ::testing::WithParamInterface<Case> {};

TEST_P(ReapsHost, ByTheReaper) {
  PREPARE_OR_SKIP(GetParam().way);
  cgroup::Leaf leaf = ground_->leaf("job");
  const Started started = start(leaf, GetParam().command);
  ASSERT_TRUE(wait_ready(started));
  Reaping reaping(GetParam().way.kill, std::move(leaf));
  const Story& story = reaping.run();
  ASSERT_TRUE(story.gone);
  EXPECT_EQ(story.told_empty, 1);
  EXPECT_TRUE(story.existed_when_empty);
}

TEST_P(ReapsHost, ByDestroy) {
  PREPARE_OR_SKIP(GetParam().way);
  const cgroup::Leaf leaf = ground_->leaf("job");
  const Started started = start(leaf, GetParam().command);
  ASSERT_TRUE(wait_ready(started));
  const auto remains = cgroup::destroy(ground_->inner().parts(), "job", loop::now() + kPatience,
                                       &loop::now, GetParam().way.kill);
  EXPECT_TRUE(remains.gone) << (remains.trouble ? remains.trouble->message() : "");
}

INSTANTIATE_TEST_SUITE_P(Programs, ReapsHost, ::testing::ValuesIn(all_cases()), name_of_case);

class ReaperHost : public HostTest {};

TEST_F(ReaperHost, AnEmptyGroupIsRemovedWithoutAKill) {
  for (const Way& way : {kHybrid, kV1}) {
    SCOPED_TRACE(way.name);
    PREPARE_OR_SKIP(way);
    Reaping reaping(way.kill, ground_->leaf("job"));
    const Story& story = reaping.run();
    EXPECT_FALSE(story.gone->killed);
    EXPECT_EQ(story.told_empty, 1);
    EXPECT_THAT(story.gone->left_behind, IsEmpty());
    ground_.reset();
  }
}

TEST_F(ReaperHost, NamesWhoWasLeftBehind) {
  PREPARE_OR_SKIP(kHybrid);
  cgroup::Leaf leaf = ground_->leaf("job");
  const Started started = start(leaf, {"double_fork", "3"});
  ASSERT_TRUE(wait_ready(started));
  ASSERT_TRUE(eventually([&] { return cgroup::processes_below(leaf)->size() == 3; }));
  Reaping reaping(KillWay::best, std::move(leaf));
  const Story& story = reaping.run();
  EXPECT_TRUE(story.gone->killed);
  EXPECT_THAT(story.gone->left_behind,
              ::testing::Each(::testing::Field(&cgroup::LeftProcess::comm, "double_fork")));
  EXPECT_THAT(story.gone->left_behind, SizeIs(3));
}

TEST_F(ReaperHost, FindsAProcessThatLeftTheV2Group) {
  for (const char* how : {"out", "remove"}) {
    SCOPED_TRACE(how);
    PREPARE_OR_SKIP(kHybrid);
    cgroup::Leaf leaf = ground_->leaf("job");
    const Started started = start(leaf, {"leave_group", how});
    ASSERT_TRUE(wait_ready(started));
    Reaping reaping(KillWay::best, std::move(leaf));
    EXPECT_TRUE(reaping.run().gone->killed);
    EXPECT_TRUE(eventually([] { return !has_children(); }));
    ground_.reset();
  }
}

TEST_F(ReaperHost, FindsAGroupThatWasRenamed) {
  PREPARE_OR_SKIP(kV1);
  cgroup::Leaf leaf = ground_->leaf("job");
  const Started started = start(leaf, {"leave_group", "rename"});
  ASSERT_TRUE(wait_ready(started));
  Reaping reaping(KillWay::best, std::move(leaf));
  EXPECT_TRUE(reaping.run().gone->killed);
}

TEST_F(ReaperHost, LiftsATinyQuota) {
  for (const Way& way : {kHybrid, kV1}) {
    SCOPED_TRACE(way.name);
    PREPARE_OR_SKIP(way);
    cgroup::Leaf leaf = ground_->leaf("job");
    const Started started = start(leaf, {"burn", "8"});
    ASSERT_TRUE(wait_ready(started));
    const cgroup::Directory& cpu = *leaf.of(Controller::cpu);
    ASSERT_TRUE(cpu.write("cpu.cfs_period_us", "1000000"));
    ASSERT_TRUE(cpu.write("cpu.cfs_quota_us", "1000"));
    ASSERT_TRUE(eventually(
        [&] { return cpu.read("cpu.stat")->find("nr_throttled 0") == std::string::npos; }));
    const auto same = cpu.clone();
    Reaping reaping(way.kill, std::move(leaf));
    reaping.reaper().start();
    const auto quota = same->read("cpu.cfs_quota_us");
    EXPECT_TRUE(quota ? *quota == "-1\n" : quota.error().gone());
    EXPECT_TRUE(reaping.run_until([&] { return reaping.story().gone.has_value(); }));
    ground_.reset();
  }
}

TEST_F(ReaperHost, EndsProcessesThatSleepAtAMemoryLimit) {
  for (const Way& way : {kHybrid, kV1}) {
    SCOPED_TRACE(way.name);
    PREPARE_OR_SKIP(way);
    cgroup::Leaf leaf = ground_->leaf("job");
    const cgroup::Directory& memory = *leaf.of(Controller::memory);
    ASSERT_TRUE(memory.write("memory.limit_in_bytes", "16M"));
    ASSERT_TRUE(memory.write("memory.oom_control", "1"));
    const Started started = start(leaf, {"hog", "64"});
    ASSERT_TRUE(eventually([&] {
      return memory.read("memory.oom_control")->find("under_oom 1") != std::string::npos;
    }));
    Reaping reaping(way.kill, std::move(leaf));
    EXPECT_TRUE(reaping.run().gone);
    ground_.reset();
  }
}

// Pages that are given back while the others freeze can wake the sleeper, which freezes too then:
// that is no such case, and is tried again.
TEST_F(ReaperHost, LetsAFreezerGoThatASleeperAtTheLimitHoldsUp) {
  PREPARE_OR_SKIP(kV1);
  const auto until_empty = [&] {
    cgroup::Leaf leaf = ground_->leaf("job");
    const Started many = start(leaf, {"forkbomb", "100", "sleep"});
    EXPECT_TRUE(wait_ready(many));
    const cgroup::Directory& memory = *leaf.of(Controller::memory);
    const auto usage = to_u64(trim(*memory.read("memory.usage_in_bytes")));
    EXPECT_TRUE(memory.write("memory.limit_in_bytes", std::to_string(*usage + (16 << 20))));
    EXPECT_TRUE(memory.write("memory.oom_control", "1"));
    const Started sleeper = start(leaf, {"hog", "64"});
    EXPECT_TRUE(eventually([&] {
      return memory.read("memory.oom_control")->find("under_oom 1") != std::string::npos;
    }));
    Reaping reaping(KillWay::best, std::move(leaf));
    const auto gone = reaping.run().gone;
    return gone ? gone->until_empty : Duration{};
  };
  EXPECT_TRUE(eventually([&] { return until_empty() >= cgroup::Kill::kFreezePatience; }));
}

TEST_F(ReaperHost, ReportsAProcessThatDoesNotDieAndWaitsForIt) {
  PREPARE_OR_SKIP(kHybrid);
  Way freezer_way = kV1Freezer;
  auto freezer_ground = Ground::make(freezer_way, std::string(kGround) + "-freezer");
  ASSERT_TRUE(freezer_ground);
  const cgroup::Leaf other = freezer_ground->leaf("elsewhere");
  cgroup::Leaf leaf = ground_->leaf("job");
  const Started started = start(leaf, {"ignore_signals"});
  ASSERT_TRUE(wait_ready(started));
  ASSERT_TRUE(cgroup::move_process(other, started.pid));
  auto guard = cgroup::FreezeGuard::freeze(other);
  ASSERT_TRUE(eventually([&] { return *guard->state() == cgroup::FreezeState::frozen; }));

  Reaping reaping(KillWay::best, std::move(leaf));
  reaping.reaper().start();
  ASSERT_TRUE(reaping.run_until([&] { return !reaping.story().stuck.empty(); }));
  EXPECT_EQ(reaping.reaper().state(), reap::State::stuck);
  const reap::Stuck& stuck = reaping.story().stuck.front();
  EXPECT_GE(stuck.since, 1s);
  ASSERT_THAT(stuck.processes, SizeIs(1));
  EXPECT_EQ(stuck.processes[0].pid, started.pid);
  EXPECT_EQ(stuck.processes[0].comm, "ignore_signals");
  EXPECT_EQ(stuck.processes[0].state, 'D');
  EXPECT_NE(stuck.processes[0].wchan, "");
  EXPECT_EQ(reaping.story().told_empty, 0);

  ASSERT_TRUE(cgroup::thaw(*other.of(Controller::freezer)));
  EXPECT_TRUE(reaping.run_until([&] { return reaping.story().gone.has_value(); }));
}

// Makes groups below each part of a leaf, as a job may.
void widen(const cgroup::Leaf& leaf, int groups) {
  for (const auto& part : leaf.parts()) {
    for (int i = 0; i < groups; ++i) {
      ASSERT_TRUE(part.directory.make_child("g" + std::to_string(i)));
    }
  }
}

// A job makes its tree as wide as it likes, and others have the loop too: no turn costs what going
// through the whole tree once would.
class WideTreeHost : public HostTest, public ::testing::WithParamInterface<KillWay> {};

TEST_P(WideTreeHost, TakesManyTurns) {
  constexpr int kGroups = 1500;
  const Way way{"Wide", true, cgroup::ControllerSet(Controller::cpu, Controller::freezer),
                GetParam()};
  PREPARE_OR_SKIP(way);
  cgroup::Leaf leaf = ground_->leaf("job");
  const Started started = start(leaf, {"ignore_signals"});
  ASSERT_TRUE(wait_ready(started));
  ASSERT_NO_FATAL_FAILURE(widen(leaf, kGroups));
  const Duration before = loop::cpu_time();
  ASSERT_THAT(*cgroup::processes_below(leaf), SizeIs(1));
  const Duration whole = loop::cpu_time() - before;
  Reaping reaping(way.kill, std::move(leaf));
  EXPECT_TRUE(reaping.run().gone->killed);
  EXPECT_LT(reaping.dearest_turn(), whole / 3);
}

INSTANTIATE_TEST_SUITE_P(Ways, WideTreeHost, ::testing::Values(KillWay::best, KillWay::signals),
                         [](const auto& way) {
                           return way.param == KillWay::best ? "Best" : "Signals";
                         });

// Without a v2 directory, which answers for all below it, even to see that nobody is left takes a
// look at every group.
TEST_F(ReaperHost, LooksForNobodyInAWideTreeInManyTurns) {
  PREPARE_OR_SKIP(kV1Freezer);
  cgroup::Leaf leaf = ground_->leaf("job");
  ASSERT_NO_FATAL_FAILURE(widen(leaf, 1500));
  const Duration before = loop::cpu_time();
  ASSERT_FALSE(*cgroup::populated(leaf, cgroup::Scope::v2_first));
  const Duration whole = loop::cpu_time() - before;
  Reaping reaping(KillWay::best, std::move(leaf));
  EXPECT_FALSE(reaping.run().gone->killed);
  EXPECT_LT(reaping.dearest_turn(), whole / 3);
}

// It is looked for in the whole tree, to be named.
TEST_F(ReaperHost, NamesWhoDoesNotDieInAWideTreeInManyTurns) {
  const Way way{"Wide", true, cgroup::ControllerSet(Controller::cpu)};
  PREPARE_OR_SKIP(way);
  Way freezer_way = kV1Freezer;
  auto freezer_ground = Ground::make(freezer_way, std::string(kGround) + "-freezer");
  ASSERT_TRUE(freezer_ground);
  const cgroup::Leaf other = freezer_ground->leaf("elsewhere");
  cgroup::Leaf leaf = ground_->leaf("job");
  const Started started = start(leaf, {"ignore_signals"});
  ASSERT_TRUE(wait_ready(started));
  ASSERT_NO_FATAL_FAILURE(widen(leaf, 1500));
  ASSERT_TRUE(cgroup::move_process(other, started.pid));
  auto guard = cgroup::FreezeGuard::freeze(other);
  ASSERT_TRUE(eventually([&] { return *guard->state() == cgroup::FreezeState::frozen; }));
  const Duration before = loop::cpu_time();
  ASSERT_THAT(cgroup::stuck_processes(leaf), SizeIs(1));
  const Duration whole = loop::cpu_time() - before;

  Reaping reaping(KillWay::best, std::move(leaf));
  reaping.reaper().start();
  ASSERT_TRUE(reaping.run_until([&] { return !reaping.story().stuck.empty(); }));
  EXPECT_THAT(reaping.story().stuck.front().processes, SizeIs(1));
  EXPECT_LT(reaping.dearest_turn(), whole / 3);
  ASSERT_TRUE(cgroup::thaw(*other.of(Controller::freezer)));
  EXPECT_TRUE(reaping.run_until([&] { return reaping.story().gone.has_value(); }));
}

TEST_F(ReaperHost, MayBeDestroyedInTheMiddle) {
  PREPARE_OR_SKIP(kV1Freezer);
  cgroup::Leaf leaf = ground_->leaf("job");
  const Started started = start(leaf, {"forkbomb", "200", "churn"});
  ASSERT_TRUE(wait_ready(started));
  {
    Reaping reaping(KillWay::best, std::move(leaf));
    reaping.reaper().start();
    for (int turn = 0; turn < 4; ++turn) ASSERT_TRUE(reaping.run_until([] { return true; }));
  }
  const auto remains =
      cgroup::destroy(ground_->inner().parts(), "job", loop::now() + kPatience, &loop::now);
  EXPECT_TRUE(remains.gone);
}

}  // namespace
}  // namespace plimsoll::testing

#include "kernel/cgroup/run_tree.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "kernel/cgroup/destroy.h"
#include "kernel/cgroup/sweep.h"
#include "support/host_test.h"

// The directories of runs in real hierarchies: who owns them, and who may sweep them away.
namespace plimsoll::testing {
namespace {

using cgroup::Controller;
using cgroup::ControllerSet;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kName = "plimsoll-20261121-035916-3f2a91c4";
constexpr const char* kOther = "plimsoll-20261121-035916-00000000";

class RunTreeHost : public HostTest {
 protected:
  // The ground as the base of runs.
  cgroup::Placement placement() {
    cgroup::Placement placement;
    for (const auto& part : ground_->inner().parts()) {
      cgroup::Hierarchy hierarchy;
      hierarchy.version = part.directory.version();
      hierarchy.controllers = part.controllers;
      placement.bases.push_back({hierarchy, *part.directory.clone()});
    }
    return placement;
  }

  std::vector<cgroup::Swept> sweep() {
    return cgroup::sweep(cgroup::runs_at(ground_->inner().parts()), orphaned_,
                         clock_now() + kPatience, &clock_now);
  }
  cgroup::Orphaned orphaned_ = cgroup::Orphaned::left;
  bool has_stale() { return cgroup::has_stale(cgroup::runs_at(ground_->inner().parts())); }
};

TEST_F(RunTreeHost, ALockedTreeIsLeftAloneAndAnUnlockedOneSwept) {
  PREPARE_OR_SKIP(kHybrid);
  const std::size_t everywhere = ground_->inner().parts().size();
  {
    auto living = cgroup::RunTree::create(placement(), kName);
    ASSERT_TRUE(living) << living.error().message();
    EXPECT_EQ(ground_->left_of(kName).size(), everywhere);
    EXPECT_FALSE(has_stale());
    EXPECT_THAT(sweep(), IsEmpty());
    EXPECT_EQ(ground_->left_of(kName).size(), everywhere);
    {
      auto dead = cgroup::RunTree::create(placement(), kOther);
      ASSERT_TRUE(dead);
      ASSERT_TRUE(dead->make_pool(placement(), ControllerSet(Controller::memory)));
    }
    EXPECT_TRUE(has_stale());
    const auto swept = sweep();
    ASSERT_EQ(swept.size(), 1U);
    EXPECT_EQ(swept[0].name, kOther);
    EXPECT_TRUE(swept[0].remains.gone);
    EXPECT_THAT(ground_->left_of(kOther), IsEmpty());
    EXPECT_EQ(ground_->left_of(kName).size(), everywhere);
  }
  EXPECT_EQ(sweep().size(), 1U);
  EXPECT_THAT(ground_->left_of(kName), IsEmpty());
}

TEST_F(RunTreeHost, OneLockOfSeveralIsEnoughToLive) {
  PREPARE_OR_SKIP(kHybrid);
  std::optional<cgroup::Directory> last;
  {
    auto tree = cgroup::RunTree::create(placement(), kName);
    ASSERT_TRUE(tree);
    // A second descriptor of the same opening shares its lock.
    const auto& part = tree->run().parts().back();
    const UniqueFd shared(::fcntl(part.directory.fd(), F_DUPFD_CLOEXEC, 3));
    tree = fail("closed");
    EXPECT_FALSE(has_stale() && !sweep().empty());
    EXPECT_FALSE(ground_->left_of(kName).empty());
  }
  EXPECT_EQ(sweep().size(), 1U);
}

// As a child of a dead run that was forked and has not come to its exec.
TEST_F(RunTreeHost, AnOrphanedLockIsWaitedForWhereThatIsAsked) {
  PREPARE_OR_SKIP(kHybrid);
  int until_exec[2];
  ASSERT_EQ(::pipe2(until_exec, O_CLOEXEC), 0);
  const UniqueFd end(until_exec[0]);
  UniqueFd exec(until_exec[1]);
  const pid_t owner = ::fork();
  if (owner == 0) {
    exec = {};
    auto tree = cgroup::RunTree::create(placement(), kName);
    char byte = 0;
    if (tree && ::fork() == 0) (void)!::read(end.get(), &byte, 1);  // it has the locks as well
    ::_exit(0);
  }
  ASSERT_TRUE(eventually([owner] { return ::kill(owner, 0) != 0; }));  // waited for by nobody
  EXPECT_FALSE(ground_->left_of(kName).empty());
  EXPECT_FALSE(has_stale());
  EXPECT_THAT(sweep(), IsEmpty());
  orphaned_ = cgroup::Orphaned::awaited;
  std::thread execs([&exec] {
    ::usleep(100'000);  // usually while it is waited for
    exec = {};
  });
  const auto swept = sweep();
  execs.join();
  ASSERT_EQ(swept.size(), 1U);
  EXPECT_TRUE(swept[0].remains.gone);
  EXPECT_THAT(ground_->left_of(kName), IsEmpty());
  EXPECT_TRUE(eventually([] { return !has_children(); }));
}

TEST_F(RunTreeHost, WhoLivesIsNotWaitedFor) {
  PREPARE_OR_SKIP(kHybrid);
  {
    auto living = cgroup::RunTree::create(placement(), kName);
    ASSERT_TRUE(living);
    orphaned_ = cgroup::Orphaned::awaited;
    // A machine that is busy may take as long for other reasons, but not each time.
    EXPECT_TRUE(eventually([this] {
      const Instant begun = clock_now();
      EXPECT_THAT(sweep(), IsEmpty());
      return clock_now() - begun < cgroup::kOrphanedPatience / 2;
    }));
  }
  EXPECT_EQ(sweep().size(), 1U);
}

TEST_F(RunTreeHost, ASweepKillsWhoIsStillThere) {
  PREPARE_OR_SKIP(kHybrid);
  std::optional<Started> started;
  {
    auto tree = cgroup::RunTree::create(placement(), kName);
    ASSERT_TRUE(tree);
    ASSERT_TRUE(tree->make_pool(placement(), ControllerSet(Controller::memory)));
    auto leaf = tree->pool().make_leaf("job-1", ControllerSet(Controller::memory));
    ASSERT_TRUE(leaf);
    started = start(*leaf, {"ignore_signals"});
    ASSERT_TRUE(wait_ready(*started));
  }
  const auto swept = sweep();
  ASSERT_EQ(swept.size(), 1U);
  EXPECT_TRUE(swept[0].remains.gone);
  EXPECT_TRUE(eventually([] { return !has_children(); }));
}

TEST_F(RunTreeHost, ACreationThatFailsLeavesNothingOfItsOwn) {
  PREPARE_OR_SKIP(kHybrid);
  const auto& last = ground_->inner().parts().back().directory;
  ASSERT_TRUE(last.make_child(kName));
  EXPECT_FALSE(cgroup::RunTree::create(placement(), kName));
  EXPECT_THAT(ground_->left_of(kName), ElementsAre(last.label() + "/" + kName));
  ASSERT_TRUE(last.remove_child(kName));
}

TEST_F(RunTreeHost, AGroupThatCannotBeMadeEverywhereIsMadeNowhere) {
  PREPARE_OR_SKIP(kHybrid);
  {
    auto tree = cgroup::RunTree::create(placement(), kName);
    ASSERT_TRUE(tree);
    ASSERT_TRUE(tree->make_pool(placement(), kHybrid.controllers));
    cgroup::Inner& pool = tree->pool();
    const auto& last = pool.parts().back().directory;
    ASSERT_TRUE(last.make_child("taken"));
    EXPECT_FALSE(pool.make_leaf("taken", kHybrid.controllers));
    for (const auto& part : pool.parts()) {
      EXPECT_EQ(part.directory.has_file("taken"), part.directory.label() == last.label())
          << part.directory.label();
    }
    EXPECT_TRUE(pool.make_leaf("free", kHybrid.controllers));
  }
  EXPECT_EQ(sweep().size(), 1U);
}

TEST_F(RunTreeHost, ACpusetOfV1HasCpusAllTheWayDown) {
  const Way way{"Cpuset", true, ControllerSet(Controller::cpuset)};
  PREPARE_OR_SKIP(way);
  const cgroup::Directory* base = ground_->inner().of(Controller::cpuset);
  if (base->version() == cgroup::Version::v2) GTEST_SKIP() << "cpuset is on v2 here";
  {
    ASSERT_TRUE(cgroup::fill_cpuset(*base->open_child(".."), *base));
    auto tree = cgroup::RunTree::create(placement(), kName);
    ASSERT_TRUE(tree) << tree.error().message();
    ASSERT_TRUE(tree->make_pool(placement(), way.controllers));
    auto leaf = tree->pool().make_leaf("job-1", way.controllers);
    ASSERT_TRUE(leaf) << leaf.error().message();
    const cgroup::Directory* cpuset = leaf->of(Controller::cpuset);
    EXPECT_EQ(*cpuset->read("cpuset.cpus"), *base->read("cpuset.cpus"));
    EXPECT_EQ(*cpuset->read("cpuset.mems"), *base->read("cpuset.mems"));
    EXPECT_TRUE(cpuset->write("cpuset.cpus", "0"));
  }
  EXPECT_EQ(sweep().size(), 1U);
}

TEST_F(RunTreeHost, ANamedPathIsMadeOnceAndTakenAgain) {
  PREPARE_OR_SKIP(kHybrid);
  const auto hierarchies = cgroup::discover_hierarchies();
  ASSERT_TRUE(hierarchies);
  const std::string path = base_path() + "/" + ground_->inner().name() + "/named/deeper";
  const cgroup::PlacementRequest request{path, {}, kHybrid.controllers};
  const auto first = cgroup::find_placement(*hierarchies, request);
  const auto second = cgroup::find_placement(*hierarchies, request);
  ASSERT_TRUE(first && second);
  for (const auto& base : first->bases) {
    EXPECT_THAT(base.directory.label(), ::testing::EndsWith(path));
  }
  // The second run keeps the path while it has a group there, and removes it as the last one.
  for (const auto& base : second->bases) {
    ASSERT_TRUE(base.directory.make_child("busy"));
  }
  for (const auto& base : first->bases) cgroup::remove_made(base.directory, base.named);
  EXPECT_THAT(ground_->left_of("named"), ::testing::Not(IsEmpty()));
  for (const auto& base : second->bases) {
    ASSERT_TRUE(base.directory.remove_child("busy"));
    cgroup::remove_made(base.directory, base.named);
  }
  EXPECT_THAT(ground_->left_of("named"), IsEmpty());
  EXPECT_FALSE(cgroup::find_placement(*hierarchies, {"/x/../y", {}, kHybrid.controllers}));
}

}  // namespace
}  // namespace plimsoll::testing

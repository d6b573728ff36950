#include "kernel/cgroup/destroy.h"

#include <chrono>

#include "kernel/cgroup/freeze.h"
#include "kernel/cgroup/remove.h"
#include "support/host_test.h"

namespace plimsoll::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::SizeIs;

class DestroyHost : public HostTest {};

TEST_F(DestroyHost, SaysWhatIsLeftAtTheDeadline) {
  PREPARE_OR_SKIP(kV1Bare);
  auto freezer_ground = Ground::make(kV1Freezer, std::string(kGround) + "-freezer");
  ASSERT_TRUE(freezer_ground);
  const cgroup::Leaf other = freezer_ground->leaf("elsewhere");
  const cgroup::Leaf leaf = ground_->leaf("job");
  const Started started = start(leaf, {"hog", "1"});
  ASSERT_TRUE(wait_ready(started));
  ASSERT_TRUE(cgroup::move_process(other, started.pid));
  auto guard = cgroup::FreezeGuard::freeze(other);
  ASSERT_TRUE(guard);
  ASSERT_TRUE(eventually([&] { return *guard->state() == cgroup::FreezeState::frozen; }));

  const auto& parents = ground_->inner().parts();
  const auto remains = cgroup::destroy(parents, "job", clock_now() + 20ms, &clock_now);
  EXPECT_FALSE(remains.gone);
  ASSERT_THAT(remains.processes, SizeIs(1));
  EXPECT_EQ(remains.processes[0].comm, "hog");
  ASSERT_TRUE(cgroup::thaw(*other.of(cgroup::Controller::freezer)));
  EXPECT_TRUE(cgroup::destroy(parents, "job", clock_now() + kPatience, &clock_now).gone);
}

TEST_F(DestroyHost, AGroupThatNeverWasIsGone) {
  PREPARE_OR_SKIP(kHybrid);
  EXPECT_TRUE(cgroup::destroy(ground_->inner().parts(), "never", clock_now(), &clock_now).gone);
}

class FreezeHost : public HostTest {};

TEST_F(FreezeHost, AGuardFreezesAndThawsAndLetsKillsThrough) {
  for (const Way& way : {kHybrid, kV1}) {
    SCOPED_TRACE(way.name);
    PREPARE_OR_SKIP(way);
    const cgroup::Leaf leaf = ground_->leaf("job");
    const Started started = start(leaf, {"burn", "2"});
    ASSERT_TRUE(wait_ready(started));
    const cgroup::Directory& freezer = *cgroup::freezer_of(leaf);
    EXPECT_EQ(*cgroup::freeze_state(freezer), cgroup::FreezeState::thawed);
    {
      auto guard = cgroup::FreezeGuard::freeze(leaf);
      ASSERT_TRUE(guard);
      EXPECT_TRUE(eventually([&] { return *guard->state() == cgroup::FreezeState::frozen; }));
      const auto moved = std::move(*guard);
      EXPECT_EQ(*cgroup::freeze_state(freezer), cgroup::FreezeState::frozen);
    }
    EXPECT_TRUE(
        eventually([&] { return *cgroup::freeze_state(freezer) == cgroup::FreezeState::thawed; }));

    ASSERT_TRUE(cgroup::request_freeze(freezer));
    const Instant end = clock_now() + kPatience;
    EXPECT_TRUE(cgroup::destroy(ground_->inner().parts(), "job", end, &clock_now).gone);
    ground_.reset();
  }
}

// Each in a state in which it does not come to the freezer by itself.
TEST_F(FreezeHost, WhoWaitsIsTracedOrMovesIsFrozenAndKilledThere) {
  const std::vector<std::string> vfork = {"vfork_wait"}, traced = {"traced"},
                                 stopped = {"traced", "stopped"}, wander = {"wander"};
  for (const auto& [way, command] : {std::pair(kHybrid, vfork),
                                     {kV1, vfork},
                                     {kHybrid, traced},
                                     {kV1, traced},
                                     {kHybrid, stopped},
                                     {kV1, stopped},
                                     {kHybrid, wander}}) {
    SCOPED_TRACE(way.name + " " + command.front());
    PREPARE_OR_SKIP(way);
    const cgroup::Leaf leaf = ground_->leaf("job");
    const Started started = start(leaf, command);
    ASSERT_TRUE(wait_ready(started));
    {
      auto guard = cgroup::FreezeGuard::freeze(leaf);
      ASSERT_TRUE(guard);
      EXPECT_TRUE(eventually([&] { return *guard->state() == cgroup::FreezeState::frozen; }));
      const Instant end = clock_now() + kPatience;
      EXPECT_TRUE(cgroup::destroy(ground_->inner().parts(), "job", end, &clock_now).gone);
    }
    ground_.reset();
  }
}

TEST_F(FreezeHost, AGroupWithoutAFreezerSaysSo) {
  PREPARE_OR_SKIP(kV1Bare);
  const cgroup::Leaf leaf = ground_->leaf("job");
  EXPECT_EQ(cgroup::FreezeGuard::freeze(leaf).error().code, std::errc::not_supported);
  EXPECT_EQ(*cgroup::remove_group(leaf), cgroup::Removal::done);
}

}  // namespace
}  // namespace plimsoll::testing

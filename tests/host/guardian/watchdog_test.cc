#include "guardian/watchdog.h"

#include <fcntl.h>

#include "base/text.h"
#include "kernel/cgroup/destroy.h"
#include "kernel/cgroup/freeze.h"
#include "kernel/cgroup/run_tree.h"
#include "support/host_test.h"

// The guardian beside a real pool, on a clock of the test's own.
namespace plimsoll::testing {
namespace {

using cgroup::FreezeState;
using guardian::HandOver;
using guardian::Heartbeat;
using guardian::Watchdog;
using std::chrono::milliseconds;

Instant at(int ms) { return Instant(milliseconds(ms)); }

constexpr const char* kRun = "run";

class SentryHost : public HostTest, public ::testing::WithParamInterface<Way> {
 protected:
  void SetUp() override {
    if (!prepare(GetParam())) return;
    run_.emplace(*cgroup::Inner(ground_->inner().name(), copies(ground_->inner().parts()))
                      .make_inner(kRun, GetParam().controllers));
    pool_.emplace(*run_->make_inner(cgroup::kPoolName, GetParam().controllers));
    freezer_ = cgroup::freezer_of(*pool_);
    HandOver tree;
    tree.name = kRun;
    for (const auto& part : ground_->inner().parts()) {
      tree.places.push_back({part.directory.version(),
                             part.controllers,
                             UniqueFd(::fcntl(part.directory.fd(), F_DUPFD_CLOEXEC, 3)),
                             UniqueFd(),
                             {}});
    }
    watchdog_.watch(tree);
  }

  void TearDown() override {
    if (ground_) {
      pool_.reset();
      run_.reset();
      EXPECT_TRUE(
          cgroup::destroy(ground_->inner().parts(), kRun, clock_now() + kPatience, &clock_now)
              .gone);
    }
    watchdog_ = Watchdog(heartbeat_.clone());
    HostTest::TearDown();
  }

  static std::vector<cgroup::Group::Part> copies(const std::vector<cgroup::Group::Part>& parts) {
    std::vector<cgroup::Group::Part> copies;
    for (const auto& part : parts) copies.push_back({*part.directory.clone(), part.controllers});
    return copies;
  }

  void look_until(int from, int to) {
    for (int ms = from; ms <= to; ms += 50) watchdog_.check(at(ms));
  }
  [[nodiscard]] bool is_frozen() const {
    return *cgroup::freeze_state(*freezer_) != FreezeState::thawed;
  }

  std::optional<cgroup::Inner> run_, pool_;
  const cgroup::Directory* freezer_ = nullptr;
  Heartbeat heartbeat_ = *Heartbeat::make();
  Watchdog watchdog_{heartbeat_.clone()};
};

TEST_P(SentryHost, FreezesThePoolOfASilentSupervisorAndThawsItWithTheNextBeat) {
  if (!ground_) GTEST_SKIP() << skipped_;
  EXPECT_FALSE(watchdog_.next_check());
  heartbeat_.watch();
  EXPECT_TRUE(watchdog_.next_check());
  look_until(0, 150);
  EXPECT_FALSE(is_frozen());
  look_until(200, 1000);
  EXPECT_TRUE(is_frozen());
  EXPECT_TRUE(heartbeat_.is_held());
  EXPECT_EQ(heartbeat_.stalled(at(1000)), milliseconds(800));
  heartbeat_.beat();
  look_until(1050, 1050);
  EXPECT_FALSE(is_frozen());
  EXPECT_FALSE(heartbeat_.is_held());
  EXPECT_EQ(heartbeat_.stalls(), 1u);
  EXPECT_EQ(heartbeat_.stalled(at(2000)), milliseconds(850));
}

TEST_P(SentryHost, LeavesAPoolAloneThatTheSupervisorHasTakenOver) {
  if (!ground_) GTEST_SKIP() << skipped_;
  heartbeat_.watch();
  look_until(0, 300);
  ASSERT_TRUE(is_frozen());
  EXPECT_EQ(heartbeat_.release(at(320)), Heartbeat::Left::held);
  look_until(350, 600);
  EXPECT_TRUE(is_frozen());
  // And watches anew when it is asked to.
  ASSERT_TRUE(cgroup::thaw(*freezer_));
  heartbeat_.watch();
  look_until(650, 800);
  EXPECT_FALSE(is_frozen());
  look_until(850, 1000);
  EXPECT_TRUE(is_frozen());
}

TEST_P(SentryHost, DoesNothingWhileItBeats) {
  if (!ground_) GTEST_SKIP() << skipped_;
  heartbeat_.watch();
  for (int ms = 0; ms < 3000; ms += 50) {
    if (ms % 150 == 0) heartbeat_.beat();
    watchdog_.check(at(ms));
    ASSERT_FALSE(heartbeat_.is_held()) << ms;
  }
  EXPECT_FALSE(is_frozen());
}

INSTANTIATE_TEST_SUITE_P(Hierarchies, SentryHost, ::testing::Values(kHybrid, kV1),
                         [](const auto& way) { return way.param.name; });

}  // namespace
}  // namespace plimsoll::testing

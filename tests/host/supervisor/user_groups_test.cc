// Groups of users in a pool of this test's own.
#include "supervisor/user_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/loop/loop.h"
#include "base/text.h"
#include "kernel/cgroup/remove.h"
#include "support/host_test.h"

namespace plimsoll::supervisor {
namespace {

using cgroup::Controller;
using ::testing::SizeIs;

struct UserGroupsTest : plimsoll::testing::HostTest {
  // The ground, as a pool that makes groups.
  [[nodiscard]] cgroup::Inner pool() const {
    std::vector<cgroup::Group::Part> parts;
    for (const auto& part : ground_->inner().parts()) {
      parts.push_back({*part.directory.clone(), part.controllers});
    }
    return {"pool", std::move(parts)};
  }
  [[nodiscard]] std::vector<std::string> groups() const {
    return *ground_->inner().of(Controller::pids)->children();
  }
  void TearDown() override {
    if (ground_) {
      for (const auto& part : ground_->inner().parts()) {
        const auto names = part.directory.children();
        for (const std::string& name : *names) {
          EXPECT_TRUE(cgroup::remove_tree(part.directory, name));
        }
      }
    }
    HostTest::TearDown();
  }

  const cgroup::ControllerSet wanted{Controller::cpu, Controller::memory, Controller::pids};
};

TEST_F(UserGroupsTest, AUserHasOneWithABoundOnItsProcesses) {
  PREPARE_OR_SKIP(plimsoll::testing::kHybrid);
  const loop::Loop loop = std::move(*loop::Loop::create());
  loop::Worker worker(loop);
  cgroup::Inner inner = pool();
  UserGroups users(inner, {.wanted = wanted, .processes_max = 17}, worker);
  auto group = users.of(1000);
  ASSERT_TRUE(group) << group.error().message();
  EXPECT_EQ(*users.of(1000), *group);
  EXPECT_EQ(trim(*(*group)->of(Controller::pids)->read("pids.max")), "17");
  const auto of_root = users.of(0);
  ASSERT_TRUE(of_root);
  EXPECT_EQ(trim(*(*of_root)->of(Controller::pids)->read("pids.max")), "max");
  EXPECT_THAT(groups(), ::testing::UnorderedElementsAre("user-0", "user-1000"));
  auto job = (*group)->make_leaf("job-1", wanted);
  ASSERT_TRUE(job) << job.error().message();
  EXPECT_TRUE((*group)->remove_child("job-1"));
}

// Whoever comes and goes leaves no more of them than so many.
TEST_F(UserGroupsTest, NoMoreThanSoManyStandEmpty) {
  PREPARE_OR_SKIP(plimsoll::testing::kHybrid);
  const loop::Loop loop = std::move(*loop::Loop::create());
  loop::Worker worker(loop);
  cgroup::Inner inner = pool();
  UserGroups users(inner, {.wanted = wanted}, worker);
  const auto held = users.of(7);
  ASSERT_TRUE(held);
  for (std::uint32_t uid = 1000; uid < 1000 + 2 * UserGroups::kIdleMax; ++uid) {
    ASSERT_TRUE(users.of(uid)) << uid;
  }
  // Those of before, and one that was removed and comes again.
  EXPECT_EQ(*users.of(7), *held);
  EXPECT_TRUE(users.of(1000));
  worker.drain();
  EXPECT_THAT(groups(), SizeIs(UserGroups::kIdleMax + 1));
}

}  // namespace
}  // namespace plimsoll::supervisor

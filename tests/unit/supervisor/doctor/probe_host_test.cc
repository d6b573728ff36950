#include "supervisor/doctor/probes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::supervisor {
namespace {

using cgroup::Controller;
using cgroup::ControllerSet;
using cgroup::Version;
using report::CheckState;
using ::testing::HasSubstr;

cgroup::Hierarchy hierarchy(Version version, ControllerSet controllers, std::string own_path) {
  return {.version = version,
          .controllers = controllers,
          .mount_point = "/sys/fs/cgroup",
          .mount_root = "/",
          .own_path = std::move(own_path)};
}

TEST(JudgeLayout, RatesV2BestAndNoHierarchyWorst) {
  const auto v2 = hierarchy(Version::v2, ControllerSet(Controller::memory), "/");
  const auto bare_v2 = hierarchy(Version::v2, {}, "/");
  const auto v1 = hierarchy(Version::v1, ControllerSet(Controller::memory), "/");
  EXPECT_EQ(judge_layout({{v2}}).state, CheckState::ok);
  EXPECT_EQ(judge_layout({{bare_v2, v1}}).state, CheckState::degraded);
  EXPECT_EQ(judge_layout({{v1}}).state, CheckState::degraded);
  EXPECT_EQ(judge_layout({}).state, CheckState::missing);
  EXPECT_THAT(judge_layout({{bare_v2, v1}}).remedy, HasSubstr("unified_cgroup_hierarchy=1"));
}

TEST(JudgeOwnGroups, NamesEachGroupOnceWithItsHierarchies) {
  const auto check = judge_own_groups(
      {{hierarchy(Version::v2, {}, "/"),
        hierarchy(Version::v1, ControllerSet(Controller::memory), "/a b"),
        hierarchy(Version::v1, ControllerSet(Controller::cpu, Controller::cpuacct), "/")}});
  EXPECT_EQ(check.value, "/ of v2 cpu+cpuacct, /a b of memory");
  EXPECT_EQ(judge_own_groups({}).value, "none that is visible");
}

TEST(JudgeController, SaysWhereItIsAndWhatKeepsItFromUs) {
  const auto good = judge_controller(Controller::io, {Version::v1, "/cg/blkio", true, false});
  EXPECT_EQ(good.id, "controller.io");
  EXPECT_EQ(good.state, CheckState::ok);
  EXPECT_EQ(good.value, "v1 at /cg/blkio");

  const auto withheld = judge_controller(Controller::io, {Version::v2, "/cg", false, false});
  EXPECT_EQ(withheld.state, CheckState::missing);
  EXPECT_THAT(withheld.remedy, HasSubstr("Delegate="));

  const auto read_only = judge_controller(Controller::io, {Version::v2, "/cg", false, true});
  EXPECT_THAT(read_only.value, HasSubstr("read-only"));
  EXPECT_THAT(read_only.remedy, HasSubstr("remount,rw"));

  const auto absent = judge_controller(Controller::memory, NoPlace::not_in_kernel);
  EXPECT_THAT(absent.remedy, HasSubstr("cgroup_enable=memory"));
  const auto hidden = judge_controller(Controller::memory, NoPlace::out_of_sight);
  EXPECT_THAT(hidden.value, HasSubstr("no mount shows"));
}

TEST(PlaceKind, IsToldFromTheDirectories) {
  PlaceFacts facts{.named = false,
                   .own = "/cg/user/plimsoll-1.scope",
                   .base = "/cg/user/plimsoll-1.scope",
                   .run_name = "plimsoll-1"};
  EXPECT_EQ(place_kind(facts), PlaceKind::scope);
  facts.own = facts.base = "/cg/mine";
  EXPECT_EQ(place_kind(facts), PlaceKind::own_group);
  facts.base = "/cg";
  EXPECT_EQ(place_kind(facts), PlaceKind::root);
  facts.named = true;
  EXPECT_EQ(place_kind(facts), PlaceKind::named);
  EXPECT_THAT(judge_placement(facts).value, HasSubstr("below /cg: "));
}

}  // namespace
}  // namespace plimsoll::supervisor

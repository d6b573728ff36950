#include "kernel/cgroup/run_tree.h"

#include <gtest/gtest.h>

#include "kernel/cgroup/limits.h"

namespace plimsoll::cgroup {
namespace {

TEST(RunName, IsKnownAgain) {
  EXPECT_EQ(run_name("20261121-035916-3f2a91c4"), "plimsoll-20261121-035916-3f2a91c4");
  EXPECT_TRUE(is_run_name(run_name("20261121-035916-3f2a91c4")));
  EXPECT_TRUE(is_run_name("plimsoll-00000000-000000-00000000"));
  EXPECT_TRUE(is_run_name("plimsoll-99999999-999999-ffffffff"));
}

// What a sweep may remove hangs on this.
TEST(RunName, NothingElseIsOne) {
  for (const char* other :
       {"", "plimsoll", "plimsoll-", "plimsoll-test-7", "20261121-035916-3f2a91c4",
        "plimsoll-20261121-035916-3f2a91c", "plimsoll-20261121-035916-3f2a91c40",
        "plimsoll-20261121-035916-3f2a91cg", "plimsoll-20261121-035916-3F2A91C4",
        "plimsoll-2026112a-035916-3f2a91c4", "plimsoll_20261121-035916-3f2a91c4",
        "plimsoll-20261121_035916-3f2a91c4", "plimsoll-20261121-035916-3f2a91c4.scope",
        "xplimsoll-20261121-035916-3f2a91c4", "Plimsoll-20261121-035916-3f2a91c4",
        "plimsoll-20261121-035916-3f2a91c4/pool", "plimsoll-20261121-035916-        "}) {
    EXPECT_FALSE(is_run_name(other)) << other;
  }
}

TEST(CpuSharesOf, KeepsTheDefaultsAndTheRatios) {
  const struct {
    unsigned weight;
    std::uint64_t shares;
  } kCases[] = {{100, 1024}, {1, 10}, {50, 512}, {200, 2048}, {1000, 10'240}, {10'000, 102'400}};
  for (const auto& c : kCases) EXPECT_EQ(cpu_shares_of(c.weight), c.shares) << c.weight;
}

TEST(ControllersFor, AreThoseWhoseFilesTheLimitsNeed) {
  EXPECT_TRUE(controllers_for({}).empty());
  const struct {
    void (*set)(Limits&);
    ControllerSet expected;
  } kCases[] = {
      {[](Limits& l) { l.memory_max = Bytes{1}; }, ControllerSet(Controller::memory)},
      {[](Limits& l) { l.memory_high = Bytes{1}; }, ControllerSet(Controller::memory)},
      {[](Limits& l) { l.swap_max = Bytes{0}; }, ControllerSet(Controller::memory)},
      {[](Limits& l) { l.cpus = 1.5; }, ControllerSet(Controller::cpu)},
      {[](Limits& l) { l.cpuset = "0"; }, ControllerSet(Controller::cpuset)},
      {[](Limits& l) { l.cpu_weight = 7; }, ControllerSet(Controller::cpu)},
      {[](Limits& l) { l.io_weight = 7; }, ControllerSet(Controller::io)},
      {[](Limits& l) { l.weight = 7; }, ControllerSet(Controller::cpu)},
      {[](Limits& l) { l.io_max.push_back({.device = "8:0"}); }, ControllerSet(Controller::io)},
      {[](Limits& l) { l.pids_max = 7; }, ControllerSet(Controller::pids)},
      {[](Limits& l) { l.cpus = 1, l.pids_max = 7; },
       ControllerSet(Controller::cpu, Controller::pids)},
  };
  for (const auto& c : kCases) {
    Limits limits;
    c.set(limits);
    EXPECT_EQ(controllers_for(limits), c.expected);
  }
}

TEST(GroupInPool, IsFoundInAnyHierarchy) {
  constexpr const char* kRun = "plimsoll-20261121-035916-3f2a91c4";
  const std::string run = kRun;
  EXPECT_EQ(group_in_pool("4:memory:/a/" + run + "/pool/step-7\n0::/x\n", run), "step-7");
  EXPECT_EQ(group_in_pool("0::/" + run + "/pool/step-12/inner\n", run), "step-12");
  EXPECT_EQ(group_in_pool("0::/" + run + "/drivers-1\n", run), "");
  EXPECT_EQ(group_in_pool("0::/plimsoll-x/pool/step-7\n", run), "");
  EXPECT_EQ(group_in_pool("", run), "");
}

}  // namespace
}  // namespace plimsoll::cgroup

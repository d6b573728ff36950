#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "kernel/cgroup/directory.h"
#include "support/ground.h"

// What tests of real groups share: the ways in which this host may make a group, and the check that
// a test leaves no process, no group and no descriptor behind.
namespace plimsoll::testing {

inline constexpr const char* kGround = "plimsoll-test-reap";

inline const Way kHybrid{"Hybrid", true,
                         cgroup::ControllerSet(cgroup::Controller::cpu, cgroup::Controller::memory,
                                               cgroup::Controller::pids)};
inline const Way kV1{"V1", false,
                     cgroup::ControllerSet(cgroup::Controller::cpu, cgroup::Controller::memory,
                                           cgroup::Controller::pids, cgroup::Controller::freezer)};
inline const Way kV1Freezer{"V1FreezerAlone", false,
                            cgroup::ControllerSet(cgroup::Controller::freezer)};
inline const Way kV1Bare{
    "V1WithoutFreezer", false,
    cgroup::ControllerSet(cgroup::Controller::memory, cgroup::Controller::pids)};
inline const Way kSignals{"V2Signals", true, cgroup::ControllerSet(), cgroup::KillWay::signals};

class HostTest : public ::testing::Test {
 protected:
  // Makes the ground; false (and the test is skipped, saying why) if the host can't have it.
  bool prepare(const Way& way) {
    descriptors_ = open_descriptors();
    auto ground = Ground::make(way, kGround);
    if (ground) ground_.emplace(std::move(*ground));
    if (!ground) skipped_ = ground.error().message();
    return ground_.has_value();
  }

  void TearDown() override {
    if (!ground_) return;
    EXPECT_THAT(ground_->left_of("job"), ::testing::IsEmpty());
    EXPECT_TRUE(eventually([] { return !has_children(); })) << "processes are left";
    for (const auto& part : ground_->inner().parts()) {
      EXPECT_THAT(*part.directory.children(), ::testing::IsEmpty()) << part.directory.label();
    }
    ground_.reset();
    // Some are closed on another thread.
    EXPECT_TRUE(eventually([this] { return open_descriptors() == descriptors_; }))
        << open_descriptors() << " descriptors, expected " << descriptors_;
  }

  std::optional<Ground> ground_;
  std::string skipped_;
  int descriptors_ = 0;
};

#define PREPARE_OR_SKIP(way) \
  if (!prepare(way)) GTEST_SKIP() << skipped_

}  // namespace plimsoll::testing

#include "engine/lease.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "base/file.h"

namespace plimsoll::engine {
namespace {

using namespace plimsoll::literals;

class LeaseTest : public ::testing::Test {
 protected:
  LeaseTest() : loop_(*loop::Loop::create()) {
    std::string name = ::testing::TempDir() + "leaseXXXXXX";
    directory_ = ::mkdtemp(name.data());
  }
  ~LeaseTest() override { std::filesystem::remove_all(directory_); }

  struct Party {
    policy::RunClaim claim{};
    std::string reason{};
    std::unique_ptr<Lease> lease{};
  };

  void join(Party& party, const std::string& name, policy::Share whole, LeaseRole role) {
    auto ledger = Ledger::join(open_at(AT_FDCWD, directory_, O_RDONLY | O_DIRECTORY), name);
    ASSERT_TRUE(ledger) << ledger.error().message();
    party.lease = std::make_unique<Lease>(
        loop_, std::move(*ledger), whole, role,
        LeaseHolder{.claim = [&party] { return party.claim; },
                    .moved = [&party](const policy::Share&,
                                      std::string reason) { party.reason = std::move(reason); }});
  }

  loop::Loop loop_;
  std::string directory_;
};

TEST_F(LeaseTest, ARunAloneHasItsWhole) {
  Party run;
  join(run, "run", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  EXPECT_EQ(run.lease->share().line, 8_GiB);
  EXPECT_EQ(run.lease->share().cores, 4);
  EXPECT_EQ(run.reason, "");
}

TEST_F(LeaseTest, TheDaemonsTermsHoldAsFarAsTheyAreNotMore) {
  Party daemon, run;
  join(daemon, "daemon", {.line = 2_GiB, .cores = 64}, LeaseRole::daemon);
  join(run, "run", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  EXPECT_EQ(run.lease->share().line, 2_GiB);
  EXPECT_EQ(run.lease->share().cores, 4);
  EXPECT_EQ(run.reason, "what the daemon leases is shared with 1 other run");
  EXPECT_EQ(daemon.lease->share().line, 2_GiB);
}

TEST_F(LeaseTest, WhatIsLeasedOutlivesTheDaemon) {
  Party daemon, run;
  join(daemon, "daemon", {.line = 2_GiB, .cores = 2}, LeaseRole::daemon);
  join(run, "run", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  daemon.lease.reset();
  run.lease->settle();
  EXPECT_EQ(run.lease->share().line, 2_GiB);
  EXPECT_EQ(run.lease->share().cores, 2);
  // A new daemon knows at once what is claimed.
  run.claim = {
      .memory = {.used = 1_GiB, .claimed = 1_GiB, .wanting = false}, .cores = {}, .running = 2};
  run.lease->settle();
  join(daemon, "again", {.line = 2_GiB, .cores = 2}, LeaseRole::daemon);
  EXPECT_EQ(daemon.lease->share().line, 1_GiB);
}

TEST_F(LeaseTest, TheDaemonMayMoveItsLine) {
  Party daemon, run;
  join(daemon, "daemon", {.line = 2_GiB, .cores = 2}, LeaseRole::daemon);
  join(run, "run", {.line = 8_GiB, .cores = 4}, LeaseRole::run);
  daemon.lease->set_line(3_GiB);
  run.lease->settle();
  EXPECT_EQ(run.lease->share().line, 3_GiB);
}

TEST(ClaimOf, WhatAConductorsJobsAreBelievedToReach) {
  ConductorStatus status;
  status.used = 3_GiB;
  status.running = 2;
  status.waiting = 1;
  status.holding = policy::Holding{
      .job = JobId{4}, .cause = policy::HoldCause::cores, .reason = {}, .numbers = {}};
  status.jobs = {
      {.job = JobId{1}, .used = 2_GiB, .cores = 1.5, .estimate = 1_GiB, .cores_estimate = 1},
      {.job = JobId{2}, .estimate = 1_GiB, .cores_estimate = 0.5},
      {.job = JobId{3},
       .state = JobState::frozen,
       .used = 1_GiB,
       .cores = 4,
       .estimate = 1_GiB,
       .cores_estimate = 4}};
  const policy::RunClaim claim = claim_of(status);
  EXPECT_EQ(claim.memory.used, 3_GiB);
  EXPECT_EQ(claim.memory.claimed, 4_GiB);
  EXPECT_FALSE(claim.memory.wanting);
  EXPECT_EQ(claim.cores.used, 2);
  EXPECT_EQ(claim.cores.claimed, 2);
  EXPECT_TRUE(claim.cores.wanting);
  EXPECT_EQ(claim.running, 2U);
  status.holding->cause = policy::HoldCause::memory;
  EXPECT_TRUE(claim_of(status).memory.wanting);
  EXPECT_FALSE(claim_of(status).cores.wanting);
}

}  // namespace
}  // namespace plimsoll::engine

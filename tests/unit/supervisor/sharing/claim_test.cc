#include <gtest/gtest.h>

#include <chrono>

#include "supervisor/sharing/lease.h"

// What the jobs of a scheduler make of a claim.
namespace plimsoll::supervisor {
namespace {

using namespace plimsoll::literals;

TEST(ClaimOf, WhatNothingIsKnownOfGoesOnGrowingForAWhile) {
  policy::SchedulerStatus status;
  status.jobs = {{.job = JobId{1},
                  .ran = kYoung,
                  .used = 2_GiB,
                  .estimate = 1_GiB,
                  .growth = to_double(300_MiB),
                  .unsettled = true},
                 {.job = JobId{2}, .ran = kYoung, .used = 2_GiB, .growth = to_double(300_MiB)},
                 {.job = JobId{3},
                  .state = policy::JobState::frozen,
                  .ran = kYoung,
                  .used = 1_GiB,
                  .growth = to_double(300_MiB),
                  .unsettled = true}};
  const policy::RunClaim claim = claim_of(status);
  EXPECT_EQ(claim.memory.claimed, 5_GiB + 300_MiB);
  EXPECT_EQ(claim.unsettled, 2U);
}

TEST(ClaimOf, WhatASchedulersJobsAreBelievedToReach) {
  policy::SchedulerStatus status;
  status.used = 3_GiB;
  status.running = 2;
  status.waiting = 1;
  status.holding = policy::Holding{
      .job = JobId{4}, .cause = policy::HoldCause::cores, .reason = {}, .numbers = {}};
  status.jobs = {{.job = JobId{1},
                  .ran = kYoung,
                  .used = 2_GiB,
                  .cores = 1.5,
                  .estimate = 1_GiB,
                  .cores_estimate = 1},
                 {.job = JobId{2}, .ran = kYoung, .estimate = 1_GiB, .cores_estimate = 0.5},
                 {.job = JobId{3},
                  .state = policy::JobState::frozen,
                  .ran = kYoung,
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

TEST(ClaimOf, WhatAJobIsAboutToAllocateIsNotFree) {
  policy::SchedulerStatus status;
  status.used = 100_MiB;
  status.running = 2;
  status.jobs = {{.job = JobId{1}, .used = 90_MiB, .estimate = 300_MiB},
                 {.job = JobId{2}, .used = 10_MiB, .estimate = 5_MiB}};
  EXPECT_EQ(claim_of(status).memory.used, 100_MiB);
  EXPECT_EQ(claim_of(status).starting, 210_MiB);
  for (policy::JobStatus& job : status.jobs) job.ran = kYoung;
  EXPECT_EQ(claim_of(status).starting, Bytes{});
}

}  // namespace
}  // namespace plimsoll::supervisor

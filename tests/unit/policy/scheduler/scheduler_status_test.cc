#include <gtest/gtest.h>

#include <algorithm>

#include "scheduler_scene.h"

namespace plimsoll::policy {
namespace {

TEST(SchedulerStatus, ShowsHowJobsGrowAndWhyOneIsPaused) {
  Scene run;
  run.enter(1);
  run.enter(2);
  run.scheduler.begin(run.executor);
  for (const int second : {1, 2}) {
    const Bytes used{static_cast<std::uint64_t>(second) << 20};
    run.at(std::chrono::seconds(second));
    run.scheduler.on_job(JobId{1}, {.ran = std::chrono::seconds(second),
                                    .used = used,
                                    .peak = used,
                                    .cpu = std::chrono::seconds(second),
                                    .io = Bytes{77}});
  }
  run.scheduler.on_machine({.pool_used = Bytes{2U << 20},
                            .available = {},
                            .cores_busy = 3,
                            .pool_cores = 1,
                            .stall = {.cpu_some = 0.25, .memory_full = {}, .io_full = {}},
                            .swap_free = {}});
  ASSERT_TRUE(run.scheduler.pause(JobId{1}));
  const SchedulerStatus status = run.scheduler.status();
  EXPECT_EQ(status.stall.cpu_some, 0.25);
  EXPECT_GT(status.cores_wanted, 0);
  ASSERT_EQ(status.jobs.size(), 2u);
  const JobStatus& paused = status.jobs[0];
  EXPECT_EQ(paused.state, JobState::frozen);
  EXPECT_EQ(paused.paused_for, PauseCause::user);
  EXPECT_NE(paused.reason, "");
  EXPECT_GT(paused.growth.value_or(0), 0);
  EXPECT_EQ(paused.io, Bytes{77});
  EXPECT_EQ(status.estimate, std::max(paused.estimate, *paused.used) + status.jobs[1].estimate);
  const JobStatus& running = status.jobs[1];
  EXPECT_FALSE(running.paused_for);
  EXPECT_FALSE(running.growth);  // nobody has looked
  ASSERT_TRUE(run.scheduler.resume(JobId{1}));
  EXPECT_FALSE(run.scheduler.status().jobs[0].paused_for);
  EXPECT_EQ(run.scheduler.status().jobs[0].reason, "");
}

}  // namespace
}  // namespace plimsoll::policy

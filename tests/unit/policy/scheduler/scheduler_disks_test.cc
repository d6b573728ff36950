#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler_scene.h"

// Disk space, from what an attempt has written to who waits and what is told.
namespace plimsoll::policy {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

SchedulerConfig on_a_disk() {
  SchedulerConfig config;
  config.queue.jobs_max = 100;
  config.governor.line = Bytes{std::uint64_t{8} << 30};
  config.governor.cores = 8;
  config.governor.disks = {{.path = "/data", .floor = Bytes{100U << 20U}}};
  return config;
}

TEST(SchedulerDisks, LearnsWhatAnAttemptHasWrittenAndHoldsTheNextForIt) {
  Scene run(on_a_disk());
  const DiskSample much{.free = {Bytes{1000U << 20U}}};
  run.enter(1);
  run.scheduler.begin(run.executor, much);
  ASSERT_THAT(run.executor.take(), ElementsAre("start 1"));
  run.at(1s);
  run.scheduler.on_job(JobId{1},
                       {.ran = 1s, .used = Bytes{1}, .peak = Bytes{1}, .written = Bytes{5}});
  AttemptEnd end = kOk;
  end.written = Bytes{400U << 20U};
  run.scheduler.on_over(JobId{1}, end);
  for (const unsigned id : {2U, 3U, 4U}) run.enter(id);
  // With the doubt of a single attempt: 400 MB may be 570.
  EXPECT_THAT(run.executor.take(), ElementsAre("start 2"));
  ASSERT_TRUE(run.scheduler.holding());
  EXPECT_EQ(run.scheduler.holding()->cause, HoldCause::space);
}

TEST(SchedulerDisks, AShortageOfSpaceIsAnEventAndIsToldAtOnce) {
  Scene run(on_a_disk());
  run.enter(1);
  run.scheduler.begin(run.executor, DiskSample{.free = {Bytes{1000U << 20U}}});
  EXPECT_EQ(run.kinds[EventKind::alarm], 0);
  run.at(1s);
  run.scheduler.on_disks({.free = {Bytes{50U << 20U}}});
  EXPECT_EQ(run.kinds[EventKind::alarm], 1);
  EXPECT_THAT(run.notices, ElementsAre(HasSubstr("50.0 MiB are free on the file system of /data")));
}

}  // namespace
}  // namespace plimsoll::policy

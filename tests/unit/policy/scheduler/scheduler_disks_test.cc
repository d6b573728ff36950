#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler_scene.h"

// Disks, from what an attempt has written to who waits and what is told; and what it has done with
// devices.
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
  run.scheduler.on_job(JobId{1}, {.ran = 1s, .written = Bytes{950U << 20U}});
  run.scheduler.on_disks({.free = {Bytes{50U << 20U}}});
  EXPECT_EQ(run.kinds[EventKind::alarm], 1);
  EXPECT_THAT(run.notices, ElementsAre(HasSubstr("50.0 MiB are free on the file system of /data")));
}

TEST(SchedulerDisks, LearnsWhatAnAttemptDidWithDevices) {
  Scene run;
  run.enter(1);
  run.scheduler.begin(run.executor);
  run.at(4s);
  run.scheduler.on_job(
      JobId{1},
      {.ran = 4s, .used = Bytes{1}, .peak = Bytes{1}, .io = Bytes{4'000'000}, .io_wait = 3s});
  run.scheduler.on_over(JobId{1}, kOk);
  const auto io = run.estimator.estimate({.exact = "class", .tool = "true"}, {}).io;
  EXPECT_EQ(io, (IoNeed{.waited = 0.75, .bytes_per_second = 1e6}));
}

}  // namespace
}  // namespace plimsoll::policy

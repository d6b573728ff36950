#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler_scene.h"

namespace plimsoll::policy {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Jobs of "class" by twos, whatever else runs.
struct Capped : Scene {
  Capped()
      : Scene(SchedulerConfig{
            .queue = {.jobs_max = 100},
            .governor = {
                .line = Bytes{std::uint64_t{8} << 30}, .cores = 8, .caps = {{"class", 2}}}}) {}
};

TEST(Scheduler, OfAClassWithACapSoManyRunAtOnce) {
  Capped run;
  for (unsigned id = 1; id <= 4; ++id) run.enter(id);
  run.scheduler.begin(run.executor);
  EXPECT_THAT(run.executor.take(), ElementsAre("start 1", "start 2"));
  EXPECT_EQ(run.kinds[EventKind::held], 2);
  EXPECT_EQ(run.scheduler.counts().holds, 2U);
  EXPECT_EQ(run.scheduler.status().waiting, 2U);
  run.at(1s);
  run.scheduler.on_over(JobId{2}, kOk);
  EXPECT_THAT(run.executor.take(), ElementsAre("start 3"));
  run.scheduler.on_over(JobId{1}, kOk);
  EXPECT_THAT(run.executor.take(), ElementsAre("start 4"));
  run.scheduler.on_over(JobId{3}, kOk);
  run.scheduler.on_over(JobId{4}, kOk);
  EXPECT_TRUE(run.scheduler.is_over());
}

TEST(Scheduler, WhatStandsAsideForACapCanBeWithdrawnAndInterrupted) {
  Capped run;
  for (unsigned id = 1; id <= 5; ++id) run.enter(id);
  run.scheduler.begin(run.executor);
  EXPECT_THAT(run.executor.take(), ElementsAre("start 1", "start 2"));
  EXPECT_TRUE(run.scheduler.withdraw(JobId{3}, "not wanted"));
  run.scheduler.on_over(JobId{1}, kOk);
  EXPECT_THAT(run.executor.take(), ElementsAre("start 4"));
  run.scheduler.interrupt();
  EXPECT_EQ(run.scheduler.status().waiting, 0U);
  run.scheduler.on_over(JobId{2}, kOk);
  run.scheduler.on_over(JobId{4}, kOk);
  EXPECT_THAT(run.executor.take(), IsEmpty());
  EXPECT_TRUE(run.scheduler.is_over());
}

// Its place is another's while it waits for its next attempt.
TEST(Scheduler, AJobThatIsTriedAgainTakesAPlaceAnew) {
  Capped run;
  for (unsigned id = 1; id <= 3; ++id) run.enter(id);
  run.scheduler.begin(run.executor);
  EXPECT_THAT(run.executor.take(), ElementsAre("start 1", "start 2"));
  run.at(1s);
  run.scheduler.on_over(JobId{1}, {.outcome = Outcome::machine_oom});
  EXPECT_THAT(run.executor.take(), ElementsAre("start 3"));
  run.wakes(100s);
  EXPECT_THAT(run.executor.take(), IsEmpty());
  run.scheduler.on_over(JobId{3}, kOk);
  run.wakes(200s);
  EXPECT_THAT(run.executor.take(), ElementsAre("start 1"));
}

}  // namespace
}  // namespace plimsoll::policy

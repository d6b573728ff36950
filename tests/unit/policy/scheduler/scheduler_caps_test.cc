#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler_scene.h"

namespace plimsoll::policy {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

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

TEST(Scheduler, WhatHasACapIsNotKnownForSmall) {
  JobSpec job;
  job.command = std::string("true");
  const auto known = [&job](Scene& run) {
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(run.scheduler.known_small(job), std::nullopt) << i;
      run.estimator.learn({.key = key_of(job), .peak = Bytes{1U << 20U}, .ran = 10ms, .cores = 1});
    }
    return run.scheduler.known_small(job);
  };
  for (const char* job_class : {"class", "other"}) {
    job.job_class = job_class;
    Capped run;
    const auto peak = known(run);
    EXPECT_EQ(peak.has_value(), job.job_class == "other");
    EXPECT_GE(peak.value_or(Bytes{1U << 20U}), Bytes{1U << 20U});
  }
}

TEST(Scheduler, WhatIsLargeOrLongIsNotKnownForSmall) {
  JobSpec job;
  job.command = std::string("true");
  for (const auto& [peak, ran] : {std::pair<std::uint64_t, Duration>{40, 10ms}, {1, 300ms}}) {
    Scene run;
    for (int i = 0; i < 10; ++i) {
      run.estimator.learn({.key = key_of(job), .peak = Bytes{peak << 20U}, .ran = ran, .cores = 1});
    }
    EXPECT_EQ(run.scheduler.known_small(job), std::nullopt);
  }
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

// One at a time of each class; so many jobs.
struct Crosswise : Scene {
  explicit Crosswise(unsigned jobs_max)
      : Scene(SchedulerConfig{.queue = {.jobs_max = jobs_max},
                              .governor = {.line = Bytes{std::uint64_t{8} << 30},
                                           .cores = 8,
                                           .caps = {{"left", 1}, {"right", 1}}}}) {}
  void enters(unsigned id, const char* job_class, std::optional<JobId> part_of = {}) {
    JobSpec job;
    job.id = JobId{id};
    job.name = std::to_string(id);
    job.job_class = job_class;
    job.command = std::string("true");
    job.part_of = part_of;
    scheduler.enter(job);
  }
};

TEST(Scheduler, JobsThatHoldCapsDoNotWaitCrosswiseForTheirCommands) {
  Crosswise run(2);
  run.enters(1, "left");
  run.enters(2, "right");
  run.scheduler.begin(run.executor);
  EXPECT_THAT(run.executor.take(), ElementsAre("start 1", "start 2"));
  run.at(1s);
  run.enters(3, "right", JobId{1});
  run.enters(4, "left", JobId{2});
  run.wakes(2s);
  EXPECT_THAT(run.executor.take(), UnorderedElementsAre("start 3", "start 4"));
  for (unsigned id = 1; id <= 4; ++id) run.scheduler.on_over(JobId{id}, kOk);
  EXPECT_TRUE(run.scheduler.is_over());
}

TEST(Scheduler, ACommandDoesNotWaitForAJobThatWaitsForItsOwn) {
  Crosswise run(1);
  run.enters(1, "other");
  run.enters(2, "right");
  run.scheduler.begin(run.executor);
  EXPECT_THAT(run.executor.take(), ElementsAre("start 1"));
  run.at(1s);
  run.enters(3, "right", JobId{1});
  run.wakes(2s);
  EXPECT_THAT(run.executor.take(), ElementsAre("start 3"));
  run.scheduler.on_over(JobId{1}, kOk);
  run.wakes(3s);
  EXPECT_THAT(run.executor.take(), IsEmpty());
  run.scheduler.on_over(JobId{3}, kOk);
  run.wakes(4s);
  EXPECT_THAT(run.executor.take(), ElementsAre("start 2"));
}

}  // namespace
}  // namespace plimsoll::policy

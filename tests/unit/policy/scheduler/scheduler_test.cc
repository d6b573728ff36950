#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "scheduler_scene.h"

namespace plimsoll::policy {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Scheduler, StartsWhatIsReadyAndThenWhatNeededIt) {
  Scene run;
  run.enter(1);
  run.enter(2, {JobId{1}});
  run.scheduler.begin(run.executor);
  EXPECT_THAT(run.executor.take(), ElementsAre("start 1"));
  run.at(1s);
  run.scheduler.on_over(JobId{1}, kOk);
  EXPECT_THAT(run.executor.take(), ElementsAre("start 2"));
  run.scheduler.on_over(JobId{2}, kOk);
  EXPECT_TRUE(run.scheduler.is_over());
  EXPECT_EQ(run.overs.size(), 2u);
  EXPECT_EQ(run.kinds[EventKind::queued], 2);
  EXPECT_EQ(run.kinds[EventKind::admitted], 2);
  EXPECT_EQ(run.kinds[EventKind::started], 2);
  EXPECT_EQ(run.kinds[EventKind::ended], 2);
}

// What one call of the loop's does is bounded, however many jobs there are.
TEST(Scheduler, VeryManyJobsComeAndGoInManyTurns) {
  constexpr unsigned kJobs = 10'000;
  constexpr int kMostPerTurn = 3000;
  Scene run({.jobs_max = 1});
  for (unsigned id = 1; id <= kJobs; ++id) run.enter(id);
  const auto told = [&run] {
    int events = 0;
    for (const auto& [kind, count] : run.kinds) events += count;
    return events;
  };
  int before = 0, turns = 0;
  const auto wakes_until = [&](auto done) {
    for (; !done() && turns < 1000; ++turns) {
      EXPECT_LE(told() - before, kMostPerTurn);
      before = told();
      ASSERT_TRUE(run.executor.wake);
      run.wakes(run.executor.wake->time_since_epoch());
    }
    EXPECT_LT(turns, 1000);
  };
  run.scheduler.begin(run.executor);
  wakes_until([&] { return !run.executor.asked.empty(); });
  EXPECT_EQ(run.kinds[EventKind::queued], static_cast<int>(kJobs));
  EXPECT_THAT(run.executor.take(), SizeIs(1));
  run.scheduler.interrupt();
  EXPECT_LT(run.overs.size(), kJobs - 1);
  EXPECT_FALSE(run.scheduler.is_over());
  wakes_until([&] { return run.overs.size() == kJobs - 1; });
  EXPECT_FALSE(run.scheduler.is_over());
  for (const JobOver& over : run.overs) EXPECT_FALSE(over.end);
  EXPECT_THAT(run.executor.take(), IsEmpty());
}

// The events of many that run leave others of the loop their turn meanwhile.
TEST(Scheduler, WhatIsLeftOverWaitsForItsOwnWake) {
  Scene run({.jobs_max = 50});
  for (unsigned id = 1; id <= 5000; ++id) run.enter(id);
  run.scheduler.begin(run.executor);
  for (int wakes = 0; wakes < 20; ++wakes) run.wakes(run.executor.wake->time_since_epoch());
  const std::size_t running = run.scheduler.status().running;
  ASSERT_GT(running, 1U);
  run.at(2s);
  run.scheduler.interrupt();
  const std::size_t ended = run.overs.size();
  for (unsigned id = 1; id <= running; ++id) {
    run.scheduler.on_job(JobId{id}, {.ran = 1s, .used = Bytes{1000}, .peak = Bytes{1000}});
    run.at(2s + std::chrono::milliseconds(2 * id));
  }
  EXPECT_EQ(run.overs.size(), ended);
  ASSERT_TRUE(run.executor.wake);
  EXPECT_LE(*run.executor.wake, Instant(2s + 1ms));
  run.wakes(3s);
  EXPECT_GT(run.overs.size(), ended);
  EXPECT_LT(run.overs.size(), 5000 - running);
}

TEST(Scheduler, AWaitingJobCanBeWithdrawnARunningOneNot) {
  Scene run({.jobs_max = 1});
  run.enter(1);
  run.enter(2);
  run.scheduler.begin(run.executor);
  EXPECT_FALSE(run.scheduler.withdraw(JobId{1}, "changed my mind"));
  EXPECT_TRUE(run.scheduler.withdraw(JobId{2}, "changed my mind"));
  EXPECT_FALSE(run.scheduler.withdraw(JobId{2}, "changed my mind"));
  ASSERT_EQ(run.overs.size(), 1u);
  EXPECT_FALSE(run.overs[0].end);
  EXPECT_FALSE(run.overs[0].requeue);
  run.scheduler.on_over(JobId{1}, kOk);
  EXPECT_TRUE(run.scheduler.is_over());
}

TEST(Scheduler, JobsMaxStaysAnUpperBound) {
  Scene run({.jobs_max = 1});
  run.enter(1);
  run.enter(2);
  run.scheduler.begin(run.executor);
  EXPECT_THAT(run.executor.take(), ElementsAre("start 1"));
  run.scheduler.set_jobs_max(2);
  EXPECT_THAT(run.executor.take(), ElementsAre("start 2"));
}

TEST(Scheduler, AFailedNeedSkips) {
  Scene run;
  run.enter(1);
  run.enter(2, {JobId{1}});
  run.scheduler.begin(run.executor);
  run.scheduler.on_over(JobId{1}, {.outcome = Outcome::exited, .exit_code = 1});
  EXPECT_TRUE(run.scheduler.is_over());
  ASSERT_EQ(run.overs.size(), 2u);
  EXPECT_FALSE(run.overs[1].end);
}

TEST(Scheduler, PausedTimeDoesNotCountForTheTimeout) {
  Scene run;
  run.timeout = 10s;
  run.enter(1);
  run.scheduler.begin(run.executor);
  run.executor.take();
  EXPECT_EQ(run.executor.wake, Instant(10s));
  run.at(4s);
  ASSERT_TRUE(run.scheduler.pause(JobId{1}));
  EXPECT_THAT(run.executor.take(), ElementsAre("freeze 1"));
  run.wakes(100s);
  EXPECT_THAT(run.executor.take(), IsEmpty());
  ASSERT_TRUE(run.scheduler.resume(JobId{1}));
  EXPECT_THAT(run.executor.take(), ElementsAre("thaw 1"));
  run.wakes(105s);
  EXPECT_THAT(run.executor.take(), IsEmpty());
  run.wakes(106s);
  EXPECT_THAT(run.executor.take(), ElementsAre("kill timed_out 1"));
  run.wakes(107s);
  EXPECT_THAT(run.executor.take(), IsEmpty());
}

TEST(Scheduler, InterruptsAsTheQueueDoes) {
  Scene run({.jobs_max = 1});
  run.enter(1);
  run.enter(2);
  run.scheduler.begin(run.executor);
  run.executor.take();
  run.scheduler.interrupt();
  EXPECT_THAT(run.executor.take(), IsEmpty());
  EXPECT_EQ(run.overs.size(), 1u);  // job 2 was skipped
  run.scheduler.interrupt();
  EXPECT_THAT(run.executor.take(), ElementsAre("kill cancelled 1"));
  run.scheduler.on_over(JobId{1}, {.outcome = Outcome::cancelled});
  EXPECT_TRUE(run.scheduler.is_over());
}

TEST(Scheduler, ALostAttemptRunsAgainAndIsKnownToNeedMore) {
  Scene run;
  run.enter(1);
  run.scheduler.begin(run.executor);
  run.executor.take();
  run.at(1s);
  const Bytes reached{std::uint64_t{3} << 30};
  run.scheduler.on_job(JobId{1}, {.ran = 1s, .used = reached, .peak = reached, .cpu = 1s});
  run.scheduler.on_over(JobId{1}, {.outcome = Outcome::evicted, .signal = 9});
  ASSERT_EQ(run.overs.size(), 1u);
  EXPECT_TRUE(run.overs[0].requeue);
  EXPECT_EQ(run.kinds[EventKind::requeued], 1);
  run.wakes(5s);
  EXPECT_THAT(run.executor.take(), ElementsAre("start 1"));
  ASSERT_EQ(run.scheduler.status().jobs.size(), 1u);
  EXPECT_GT(run.scheduler.status().jobs[0].estimate, reached);
  EXPECT_GT(run.scheduler.counts().lost_cpu, Duration{});
}

TEST(Scheduler, JudgesItsEstimatesByAttemptsThatSucceeded) {
  Scene run;
  run.enter(1);
  run.enter(2);
  run.scheduler.begin(run.executor);
  run.at(1s);
  // More than anybody believes of a command that nothing is known of.
  const Bytes much{std::uint64_t{7} << 30};
  for (const JobId job : {JobId{1}, JobId{2}}) {
    run.scheduler.on_job(job, {.ran = 1s, .used = much, .peak = much, .cpu = 1s});
  }
  run.scheduler.on_over(JobId{1}, {.outcome = Outcome::cancelled, .signal = 9});
  EXPECT_EQ(run.scheduler.calibration().attempts(), 0u);
  run.scheduler.on_over(JobId{2}, kOk);
  EXPECT_EQ(run.scheduler.calibration().attempts(), 1u);
  EXPECT_EQ(run.scheduler.calibration().above_mean(), 1);
  EXPECT_EQ(run.scheduler.calibration().wasted(), 0);
}

TEST(Scheduler, ShowsWhatRuns) {
  Scene run;
  run.enter(1);
  run.scheduler.begin(run.executor);
  run.at(2s);
  run.scheduler.on_job(JobId{1}, {.ran = 2s, .used = Bytes{1000}, .peak = Bytes{1000}, .cpu = 1s});
  run.scheduler.on_machine({.pool_used = Bytes{1000},
                            .available = {},
                            .cores_busy = 3,
                            .pool_cores = 1,
                            .stall = {},
                            .swap_free = {}});
  const SchedulerStatus status = run.scheduler.status();
  EXPECT_EQ(status.running, 1u);
  EXPECT_EQ(status.used, Bytes{1000});
  EXPECT_EQ(status.cores_of_others, 2);
  ASSERT_EQ(status.jobs.size(), 1u);
  EXPECT_EQ(status.jobs[0].state, JobState::running);
  EXPECT_EQ(status.jobs[0].ran, Duration(2s));
  EXPECT_EQ(status.jobs[0].used, Bytes{1000});
  EXPECT_FALSE(status.remaining);  // nobody knows yet how long such jobs take
  EXPECT_FALSE(run.scheduler.pause(JobId{7}));
  EXPECT_FALSE(run.scheduler.kill(JobId{7}, "asked for"));
}

TEST(Scheduler, TellsWhatIsLeftOnceAJobHasShownHowLongItTakes) {
  Scene run({.jobs_max = 2});
  for (unsigned id = 1; id <= 30; ++id) run.enter(id);
  run.scheduler.begin(run.executor);
  EXPECT_FALSE(run.scheduler.status().remaining);
  for (unsigned round = 0; round < 5; ++round) {
    run.at(std::chrono::seconds(3 * (round + 1)));
    for (const unsigned id : {2 * round + 1, 2 * round + 2}) {
      run.scheduler.on_job(JobId{id}, {.ran = 3s, .used = Bytes{1000}, .peak = Bytes{1000}});
      run.scheduler.on_over(JobId{id}, kOk);
    }
  }
  const auto left = run.scheduler.status().remaining;
  ASSERT_TRUE(left);
  EXPECT_NEAR(to_seconds(*left), 30, 3);  // 20 jobs of 3 s, two at a time
}

// Of a class whose first jobs show that a number of their command tells what they take, the jobs
// that wait are told apart.
TEST(Scheduler, WaitingJobsAreSortedByWhatTheFirstOnesShowed) {
  Scene run({.jobs_max = 1});
  const auto enter = [&run](unsigned id, unsigned seconds) {
    JobSpec job;
    job.id = JobId{id};
    job.name = std::to_string(id);
    job.command = "python work.py " + std::to_string(seconds);
    run.scheduler.enter(job);
  };
  for (unsigned id = 1; id <= 8; ++id) enter(id, id);
  enter(9, 10);
  enter(10, 40);
  run.scheduler.begin(run.executor);
  Duration passed{};
  unsigned job = 1;
  for (; job <= 8; ++job) {
    const std::vector<std::string> started = run.executor.take();
    if (started != std::vector{"start " + std::to_string(job)}) break;
    const Duration ran = std::chrono::seconds(job);
    run.at(passed += ran);
    run.scheduler.on_job(JobId{job}, {.ran = ran, .used = Bytes{1000}, .peak = Bytes{1000}});
    run.executor.take();
    run.scheduler.on_over(JobId{job}, kOk);
  }
  // In the order of input at first; as soon as the numbers tell, the longest goes first.
  EXPECT_GT(job, 4U);
  EXPECT_LT(job, 8U);
  EXPECT_FALSE(run.scheduler.is_over());
}

// What is learnt while nobody waits, as in a chain of needs or in a daemon, holds for who comes
// then.
TEST(Scheduler, WhatWasLearntBeforeAJobWaitsCounts) {
  Scene run;
  const Bytes much{std::uint64_t{7} << 30};
  const auto runs_once = [&run, much](unsigned id, Duration end) {
    run.at(end);
    run.scheduler.on_job(JobId{id}, {.ran = 1s, .used = much, .peak = much, .cpu = 1s});
    run.executor.take();
    run.scheduler.on_over(JobId{id}, kOk);
  };
  run.enter(1);
  run.enter(2, {JobId{1}});
  run.enter(3, {JobId{1}});
  run.scheduler.begin(run.executor);
  runs_once(1, 1s);
  EXPECT_THAT(run.executor.take(), ElementsAre("start 2"));
  runs_once(2, 2s);
  runs_once(3, 3s);
  EXPECT_TRUE(run.scheduler.is_over());
  run.executor.take();
  run.enter(4);
  run.enter(5);
  EXPECT_THAT(run.executor.take(), ElementsAre("start 4"));
}

// As of a step of a build, whose status only its parent knows.
TEST(Scheduler, AnEndWithoutAStatusTeachesAsAGoodOneDoes) {
  const auto believed_after = [](const AttemptEnd& end) {
    Scene run;
    run.enter(1);
    run.scheduler.begin(run.executor);
    run.at(1s);
    const Bytes used{std::uint64_t{1} << 30};
    run.scheduler.on_job(JobId{1}, {.ran = 1s, .used = used, .peak = used, .cpu = 1s});
    run.scheduler.on_over(JobId{1}, end);
    return run.estimator.estimate({.exact = "class", .tool = "true"}, {}).remaining.mean;
  };
  const double good = believed_after(kOk);
  EXPECT_EQ(believed_after({.outcome = Outcome::exited, .wall = kOk.wall}), good);
  EXPECT_NE(believed_after({.outcome = Outcome::evicted, .wall = kOk.wall}), good);
}

// As of a shell that a build tool has begun and that begins another.
TEST(Scheduler, WhatIsDisregardedTeachesNothing) {
  Scene run;
  run.enter(1);
  run.scheduler.begin(run.executor);
  run.at(1s);
  const Bytes used{std::uint64_t{1} << 30};
  const Key key{.exact = "class", .tool = "true"};
  const double before = run.estimator.estimate(key, {}).peak.mean;
  run.scheduler.on_job(JobId{1}, {.ran = 1s, .used = used, .peak = used, .cpu = 1s});
  run.scheduler.disregard(JobId{1});
  run.scheduler.on_job(JobId{1}, {.ran = 2s, .used = used + used, .peak = used + used, .cpu = 2s});
  EXPECT_EQ(run.estimator.estimate(key, {}).peak.mean, before);
  run.at(2s);
  run.scheduler.on_over(JobId{1}, kOk);
  EXPECT_EQ(run.estimator.estimate(key, {}).attempts_known, 0U);
  EXPECT_EQ(run.scheduler.calibration().attempts(), 0U);
  run.scheduler.disregard(JobId{1});
  EXPECT_TRUE(run.scheduler.is_over());
}

TEST(Scheduler, AJobIsNotBelievedToNeedMoreThanItMayHave) {
  Scene run;
  for (int i = 0; i < 3; ++i) {
    run.estimator.learn(
        {.key = {"class", "true"}, .peak = Bytes{1U << 30U}, .ran = 100s, .cores = 4});
  }
  for (unsigned id = 1; id <= 20; ++id) {
    JobSpec job;
    job.id = JobId{id};
    job.name = std::to_string(id);
    job.job_class = "class";
    job.command = std::string("true");
    job.limits.memory_max = Bytes{60U << 20U};
    job.limits.cpus = 0.25;
    run.scheduler.enter(job);
  }
  run.scheduler.begin(run.executor);
  EXPECT_EQ(run.executor.take().size(), 20U);  // 20 GiB and 80 cores by their class, of 8 and 8
  EXPECT_EQ(run.scheduler.status().jobs[0].estimate, Bytes{60U << 20U});
}

TEST(Scheduler, RecordsAnAlarmOnceASecond) {
  Scene run;
  run.enter(1);
  run.scheduler.begin(run.executor);
  const auto alarm = [&run] { run.scheduler.on_alarm("the line is passed", {{"used_bytes", 5}}); };
  alarm();
  alarm();
  run.at(999ms);
  alarm();
  EXPECT_EQ(run.kinds[EventKind::alarm], 1);
  run.at(1s);
  alarm();
  EXPECT_EQ(run.kinds[EventKind::alarm], 2);
}

TEST(Scheduler, TellsTheLineThatHolds) {
  Scene run;
  run.scheduler.begin(run.executor);
  run.scheduler.set_line(Bytes{4000}, "the user has set another line");
  EXPECT_EQ(run.scheduler.line(), Bytes{4000});
  EXPECT_EQ(run.kinds[EventKind::line], 1);
}

TEST(Scheduler, AShareFromBeforeTheBeginningIsTold) {
  Scene run;
  run.scheduler.set_share({.line = Bytes{4000}, .cores = 1}, "others run here");
  EXPECT_EQ(run.kinds[EventKind::line], 0);
  run.scheduler.begin(run.executor);
  EXPECT_EQ(run.kinds[EventKind::line], 1);
  EXPECT_EQ(run.scheduler.status().cores, 1);
}

}  // namespace
}  // namespace plimsoll::policy

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler_scene.h"

// Jobs that wait for commands which they have started.
namespace plimsoll::policy {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr Bytes mebibytes(std::uint64_t count) { return Bytes{count << 20}; }

// Three jobs may run at once, in 8 GiB.
struct SchedulerCommands : ::testing::Test {
  // So many jobs; those that run have shown that they need nothing.
  void begin(unsigned jobs) {
    for (unsigned id = 1; id <= jobs; ++id) run.enter(id);
    run.scheduler.begin(run.executor);
    for (unsigned id = 1; id <= std::min(jobs, 3U); ++id) shows(id, 1, 1s);
    pass();
    run.executor.take();
  }
  // A command of the job that is expected to need so many MiB.
  void command(unsigned id, unsigned of, std::uint64_t hint = 1) {
    JobSpec spec;
    spec.id = JobId{id};
    spec.name = std::to_string(id);
    spec.job_class = "class " + std::to_string(hint);
    spec.command = std::string("cc");
    spec.memory_hint = mebibytes(hint);
    spec.part_of = JobId{of};
    spec.restarts = 0;
    run.scheduler.enter(spec);
    pass();
  }
  // Some moments pass, each with a look at the machine.
  void pass(Duration time = 100ms) {
    for (const Instant until = run.executor.now_ + time; run.executor.now_ < until;) {
      run.executor.now_ += 50ms;
      MachineSample machine;
      machine.pool_used = mebibytes(pool);
      run.scheduler.on_machine(machine);
      run.scheduler.on_wake();
    }
  }
  void shows(unsigned id, std::uint64_t used, Duration ran = 2s) {
    run.scheduler.on_job(JobId{id}, {.ran = ran, .used = mebibytes(used), .peak = mebibytes(used)});
  }
  void moves(unsigned id) {
    const Bytes used = mebibytes(1);
    run.scheduler.on_job(JobId{id}, {.ran = 9s, .used = used, .peak = used, .cpu = 1s});
  }
  void ends(unsigned id) {
    run.scheduler.on_over(JobId{id}, kOk);
    pass();
  }

  std::uint64_t pool = 0;  // MiB in use
  Scene run{{.jobs_max = 3}};
};

TEST_F(SchedulerCommands, RunBesideAsManyJobsAsMay) {
  begin(4);
  command(11, 1);
  command(12, 2);
  EXPECT_THAT(run.executor.take(), UnorderedElementsAre("start 11", "start 12"));
  ends(11);
  EXPECT_THAT(run.executor.take(), Not(Contains("start 4")));
  EXPECT_EQ(run.scheduler.status().unfinished, 4U);
  ends(1);
  EXPECT_THAT(run.executor.take(), Contains("start 4"));
}

// What jobs have that wait is nothing that their commands could wait for.
TEST_F(SchedulerCommands, StartWhateverTheirJobsHave) {
  begin(2);
  pool = 6000;
  shows(1, 3000);
  shows(2, 3000);
  run.executor.take();
  command(11, 1, 4000);  // which does not fit beside a job that runs
  EXPECT_THAT(run.executor.take(), Not(Contains("start 11")));
  command(12, 2, 4000);
  EXPECT_THAT(run.executor.take(), ElementsAre("start 11"));
  pass(5s);
  EXPECT_THAT(run.executor.take(), Not(Contains("start 12")));
  ends(11);
  EXPECT_THAT(run.executor.take(), Contains("start 12"));
}

TEST_F(SchedulerCommands, ComeBeforeJobs) {
  begin(1);
  command(11, 1, 6000);
  command(12, 1, 6000);
  EXPECT_THAT(run.executor.take(), ElementsAre("start 11"));
  run.enter(2);
  pass(5s);
  EXPECT_THAT(run.executor.take(), Not(Contains("start 2")));
  ends(11);
  EXPECT_THAT(run.executor.take(), Contains("start 12"));
}

// As the two of a pipeline do, whatever they need.
TEST_F(SchedulerCommands, StartBesideThoseThatMayWaitForThem) {
  begin(1);
  command(11, 1, 6000);
  command(12, 1, 6000);
  pass(9s);
  EXPECT_THAT(run.executor.take(), ElementsAre("start 11"));
  moves(11);
  pass(9s);
  EXPECT_THAT(run.executor.take(), Not(Contains("start 12")));
  pass(2s);
  EXPECT_THAT(run.executor.take(), Contains("start 12"));
}

TEST_F(SchedulerCommands, AreKilledBeforeTheirJobs) {
  begin(2);
  shows(2, 3000);
  command(11, 1);
  command(12, 1);
  command(13, 2);
  shows(11, 4000);
  shows(12, 3000);
  pool = 10'500;
  pass();
  const auto done = run.executor.take();
  EXPECT_THAT(done, Contains("kill evicted 12"));
  for (const char* job : {"1", "2"}) {
    EXPECT_THAT(done, Not(Contains(std::string("kill evicted ") + job)));
    EXPECT_THAT(done, Not(Contains(std::string("freeze ") + job)));
  }
}

// While the one waits, others of its processes take what everybody else would have to go for.
TEST_F(SchedulerCommands, DoNotSpareAJobThatGrowsItself) {
  begin(3);
  shows(1, 1000);
  shows(2, 1000);
  shows(3, 1000);
  command(11, 2, 6000);
  pool = 3000;
  pass();
  run.executor.take();
  shows(2, 6500);
  pool = 8500;
  pass();
  const auto done = run.executor.take();
  EXPECT_THAT(done, Contains("kill evicted 2"));
  EXPECT_THAT(done, Not(Contains("kill evicted 3")));
}

// Job 2 has had a command and is furthest over what it was admitted with.
struct AfterACommand : SchedulerCommands {
  std::vector<std::string> runs_short(Duration later) {
    begin(3);
    shows(2, 5000);
    command(11, 2);
    ends(11);
    pass(later);
    run.executor.take();
    shows(1, 100);
    shows(3, 3000);
    shows(2, 5000);
    pool = 8400;
    pass();
    return run.executor.take();
  }
};

TEST_F(AfterACommand, AJobIsSparedForAWhile) {
  const auto done = runs_short(1s);
  EXPECT_THAT(done, Contains("kill evicted 3"));
  EXPECT_THAT(done, Not(Contains("kill evicted 2")));
}

TEST_F(AfterACommand, AJobIsAsOthersLater) {
  EXPECT_THAT(runs_short(Scheduler::kBetweenCommands), Contains("kill evicted 2"));
}

TEST_F(SchedulerCommands, OfAnEarlierAttemptProtectNoLaterOne) {
  begin(2);
  command(11, 2);
  run.scheduler.on_over(JobId{2}, {.outcome = Outcome::evicted, .wall = 1s});
  pass(5s);
  ASSERT_THAT(run.executor.take(), Contains("start 2"));
  ends(11);
  shows(1, 100);
  shows(2, 9000);
  pool = 9100;
  pass();
  EXPECT_THAT(run.executor.take(), Contains("kill evicted 2"));
}

TEST_F(SchedulerCommands, AJobThatWasStoppedJustBeforeGoesOn) {
  begin(2);
  shows(1, 100);
  shows(2, 1000, 2s);
  shows(2, 7900, 3s);
  ASSERT_THAT(run.executor.take(), Contains("freeze 2"));
  pool = 8000;
  command(11, 2);
  EXPECT_THAT(run.executor.take(), Contains("thaw 2"));
}

}  // namespace
}  // namespace plimsoll::policy

#include "cli/runs/whatif_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "cli/runs/whatif_run.h"

namespace plimsoll::cli {
namespace {

using namespace plimsoll::literals;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Each uses one core and 100 MiB for ten seconds.
WhatifRun run_of(std::size_t jobs) {
  WhatifRun run{.id = "run-1", .jobs = {}, .machine = {.cores = 2, .line = 4_GiB}};
  for (std::size_t i = 1; i <= jobs; ++i) {
    sim::SimJob job{.spec = {},
                    .curve = sim::Curve(std::vector<sim::CurvePoint>{
                        {.seconds = 0, .mib = 100, .cores = 1}, {.seconds = 10, .mib = 100}})};
    job.spec.id = JobId{i};
    job.spec.name = std::to_string(i);
    job.spec.job_class = "work";
    job.spec.command = "work";
    run.jobs.push_back(std::move(job));
  }
  return run;
}

TEST(Whatif, MoreCoresTakeLessTimeAndFewerStretchJobs) {
  const Whatif whatif = what_if(
      run_of(8),
      {{.cores = 1, .line = 4_GiB}, {.cores = 2, .line = 4_GiB}, {.cores = 8, .line = 4_GiB}});
  ASSERT_THAT(whatif.answers, SizeIs(3));
  EXPECT_GE(whatif.answers[0].outcome.makespan_s, 80);
  EXPECT_LT(whatif.answers[1].outcome.makespan_s, whatif.answers[0].outcome.makespan_s);
  EXPECT_LT(whatif.answers[2].outcome.makespan_s, whatif.answers[1].outcome.makespan_s);
  EXPECT_GE(whatif.answers[2].outcome.makespan_s, 10);
  for (const WhatifAnswer& answer : whatif.answers) {
    EXPECT_TRUE(answer.outcome.finished);
    EXPECT_LE(answer.low_s, answer.outcome.makespan_s);
    EXPECT_GE(answer.high_s, answer.outcome.makespan_s);
  }
}

TEST(Whatif, OthersUseFirstTheCoresThatJobsMayNotUse) {
  WhatifRun run = run_of(8);
  run.other_load = 1;
  const std::vector<WhatifMachine> one_core = {{.cores = 1, .line = 4_GiB}};
  const double shared = what_if(run, one_core).answers[0].outcome.makespan_s;
  run.cores_of_machine = 2;
  const Whatif beside = what_if(run, one_core);
  EXPECT_GE(shared, 150);  // half of the core is theirs
  EXPECT_LT(beside.answers[0].outcome.makespan_s, 90);
  EXPECT_NEAR(beside.replay.outcome.makespan_s, beside.answers[0].outcome.makespan_s, 5);
}

TEST(Whatif, TheReplayIsOnTheMachineOfTheRunAndItsErrorAgainstTheRecord) {
  WhatifRun run = run_of(4);
  EXPECT_FALSE(what_if(run, {}).error);  // it has not ended
  run.makespan = 40s;
  const Whatif whatif = what_if(run, {});
  EXPECT_EQ(whatif.replay.machine.cores, 2);
  ASSERT_TRUE(whatif.error);
  EXPECT_NEAR(*whatif.error, whatif.replay.outcome.makespan_s / 40 - 1, 1e-12);
}

TEST(Whatif, WhatTheGovernorKnewIsWhatReplaysTheRunBetter) {
  WhatifRun run = run_of(12);
  run.machine.line = 400_MiB;  // too little for a job of which nothing is known beside others
  run.makespan = 1s;
  const Whatif fast = what_if(run, {});
  run.makespan = 10'000s;
  const Whatif slow = what_if(run, {});
  EXPECT_LE(fast.replay.outcome.makespan_s, slow.replay.outcome.makespan_s);
  if (fast.replay.outcome.makespan_s < slow.replay.outcome.makespan_s) {
    EXPECT_NE(fast.knowledge, slow.knowledge);
  }
}

TEST(Whatif, WhatTheRecordTellsIsWhatTheGovernorKnew) {
  WhatifRun run = run_of(4);
  run.makespan = 40s;
  run.known = {false, false, false, false};
  EXPECT_EQ(what_if(run, {}).knowledge, Knowledge::nothing);
  run.known = {true, true, true, true};
  EXPECT_EQ(what_if(run, {}).knowledge, Knowledge::all);
  run.known = {true, false, false, true};
  const Whatif whatif = what_if(run, {});
  EXPECT_EQ(whatif.knowledge, Knowledge::some);
  EXPECT_THAT(whatif_text(run, whatif, 80), HasSubstr("knows the kinds of 2 jobs before."));
}

TEST(Whatif, WhatTheGovernorKnowsCanBeSaid) {
  WhatifRun run = run_of(4);
  run.makespan = 40s;
  for (const Knowledge knowledge : {Knowledge::nothing, Knowledge::all}) {
    run.knowledge = knowledge;
    EXPECT_EQ(what_if(run, {}).knowledge, knowledge);
  }
}

TEST(Whatif, AJobThatDoesNotFitIsSaid) {
  const WhatifRun run = run_of(1);
  const Whatif whatif = what_if(run, {{.cores = 2, .line = 50_MiB}});
  EXPECT_FALSE(whatif.answers.at(0).outcome.finished);
  EXPECT_THAT(whatif_text(run, whatif, 120), HasSubstr("does not finish"));
  EXPECT_THAT(whatif_json(run, whatif), HasSubstr("\"finished\": false"));
}

TEST(WhatifRun, HasHalfAndTwiceOfItsMachineAroundIt) {
  const auto machines = machines_around({.cores = 4, .line = 2_GiB});
  ASSERT_THAT(machines, SizeIs(9));
  EXPECT_EQ(machines.front().cores, 2);
  EXPECT_EQ(machines.front().line, 1_GiB);
  EXPECT_EQ(machines[4].cores, 4);
  EXPECT_EQ(machines[4].line, 2_GiB);
  EXPECT_EQ(machines.back().cores, 8);
  EXPECT_EQ(machines.back().line, 4_GiB);
}

TEST(WhatifRun, CostsByItsJobsAndItsTime) {
  WhatifRun run = run_of(4);
  EXPECT_EQ(replay_cost(run), 0);
  run.makespan = 30s;
  EXPECT_EQ(replay_cost(run), 120);
}

}  // namespace
}  // namespace plimsoll::cli

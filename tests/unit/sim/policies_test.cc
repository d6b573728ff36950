#include "sim/policies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/outcome.h"
#include "stage.h"

namespace plimsoll::sim {
namespace {

using namespace plimsoll::literals;
using std::vector;

Outcome simulate(const std::string& name, const vector<SimJob>& jobs, MachineConfig machine) {
  const auto policy = parse_policy(name, machine.line);
  EXPECT_TRUE(policy) << policy.error().message();
  machine = machine_for(*policy, machine);
  SimulatedExecutor executor(machine, jobs);
  const auto driver = make_baseline(*policy, executor, jobs, machine);
  executor.run(*driver);
  return outcome_of(name, executor, jobs, machine);
}

vector<SimJob> mixed() {
  auto jobs = read_curves(PLIMSOLL_TEST_DATA "/curves/mixed.jsonl");
  EXPECT_TRUE(jobs) << jobs.error().message();
  return std::move(*jobs);
}

TEST(Policies, NamesAndTheirMistakes) {
  EXPECT_TRUE(std::holds_alternative<GovernorPolicy>(*parse_policy("plimsoll", 1_GiB)));
  EXPECT_TRUE(std::holds_alternative<ClairvoyantPolicy>(*parse_policy("clairvoyant", 1_GiB)));
  EXPECT_EQ(std::get<FitPolicy>(*parse_policy("fit:best", 1_GiB)).rule, FitJobs::Rule::best);
  EXPECT_EQ(std::get<FitPolicy>(*parse_policy("fit:first", 1_GiB)).rule, FitJobs::Rule::first);
  EXPECT_EQ(std::get<FitPolicy>(*parse_policy("fit:dot", 1_GiB)).rule, FitJobs::Rule::dot);
  EXPECT_EQ(std::get<FixedPolicy>(*parse_policy("fixed:12", 1_GiB)).jobs_max, 12U);
  EXPECT_EQ(std::get<MemfreePolicy>(*parse_policy("memfree:25%", 1_GiB)).free_min, 256_MiB);
  EXPECT_EQ(std::get<MemfreePolicy>(*parse_policy("memfree:2G", 1_GiB)).free_min, 2_GiB);
  for (const char* wrong :
       {"", "fixed", "fixed:", "fixed:0", "fixed:x", "memfree", "memfree:", "memfree:x",
        "clairvoyant:1", "clairvoyant:", "plimsoll:", "fit", "fit:", "fit:most", "best"}) {
    const auto policy = parse_policy(wrong, 1_GiB);
    ASSERT_FALSE(policy) << wrong;
    EXPECT_THAT(policy.error().message(), testing::HasSubstr("expected"));
  }
}

TEST(Policies, FixedRunsSoManyAtATime) {
  vector<SimJob> jobs;
  for (std::size_t i = 1; i <= 6; ++i) jobs.push_back(job(i, {{0, 1, 1}, {10, 1, 1}}));
  const MachineConfig machine{.cores = 8, .line = 1_GiB};
  EXPECT_NEAR(simulate("fixed:1", jobs, machine).makespan_s, 60, 0.1);
  EXPECT_NEAR(simulate("fixed:4", jobs, machine).makespan_s, 20, 0.1);
  EXPECT_NEAR(simulate("fixed:99", jobs, machine).makespan_s, 10, 0.1);
}

TEST(Policies, WhatTheKernelKillsUnderFixedRunsAgain) {
  // The second is the larger when both together reach 1,024 MiB, at 8 s of 10: killed, and started
  // at once, it is as large again 6.24 s later, when the first has ended.
  const vector<SimJob> jobs{job(1, {{0, 400, 1}, {10, 400, 1}}), job(2, {{0, 0, 1}, {10, 780, 1}})};
  const Outcome outcome = simulate("fixed:2", jobs, {.cores = 4, .line = 1_GiB});
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.oom_kills, 1U);
  EXPECT_NEAR(outcome.makespan_s, 18, 0.1);
  EXPECT_NEAR(outcome.lost_s, 8, 0.1);
}

TEST(Policies, WhatNeverFitsIsGivenUpWithoutAnEnd) {
  const vector<SimJob> jobs{job(1, {{0, 0, 1}, {10, 3000, 1}}), job(2, {{0, 0, 1}, {1, 1, 1}})};
  for (const char* policy :
       {"fixed:1", "fixed:2", "memfree:100M", "fit:best", "fit:first", "fit:dot", "clairvoyant"}) {
    const Outcome outcome = simulate(policy, jobs, {.cores = 4, .line = 1_GiB});
    EXPECT_FALSE(outcome.finished) << policy;
    ASSERT_FALSE(outcome.unfinished.empty()) << policy;
    EXPECT_GE(outcome.unfinished_count, outcome.unfinished.size());
    EXPECT_THAT(to_text(outcome), testing::HasSubstr(outcome.unfinished.front().id + ": "))
        << policy;
    EXPECT_LE(outcome.lost_s, 3 * 11 + 11) << policy;
  }
}

TEST(Policies, MemfreeWaitsForFreeMemory) {
  // One job per core. When the second ends at 5 s, the first still has 600 MiB of 1,024.
  const vector<SimJob> jobs{job(1, {{0, 600, 1}, {20, 600, 1}}), job(2, {{0, 1, 1}, {5, 1, 1}}),
                            job(3, {{0, 1, 1}, {10, 1, 1}})};
  EXPECT_NEAR(simulate("memfree:400M", jobs, {.cores = 2, .line = 1_GiB}).makespan_s, 20, 0.1);
  EXPECT_NEAR(simulate("memfree:500M", jobs, {.cores = 2, .line = 1_GiB}).makespan_s, 30, 0.1);
}

TEST(Policies, MemfreeKillsTheYoungestWhenHalfOfItIsNotFree) {
  // Both have 724 MiB at 8 s, which leaves 300. The second runs again when the first has ended.
  const vector<SimJob> jobs{job(1, {{0, 0, 1}, {10, 500, 1}, {20, 500, 1}}),
                            job(2, {{0, 0, 1}, {10, 400, 1}, {20, 400, 1}})};
  const Outcome outcome = simulate("memfree:600M", jobs, {.cores = 4, .line = 1_GiB});
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.evictions, 1U);
  EXPECT_EQ(outcome.oom_kills, 0U);
  EXPECT_NEAR(outcome.makespan_s, 40, 1);
  EXPECT_NEAR(outcome.lost_s, 8, 1);
}

TEST(Policies, ClairvoyantFitsPeaksBetweenEachOther) {
  // Each peaks at 900 MiB for its last 10 s of 50: the second is started so that its peak comes
  // after the end of the first.
  const vector<CurvePoint> late{{0, 10, 1}, {40, 10, 1}, {40.1, 900, 1}, {50, 900, 1}};
  const vector<SimJob> jobs{job(1, late), job(2, late)};
  const Outcome outcome = simulate("clairvoyant", jobs, {.cores = 4, .line = 1_GiB});
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.oom_kills, 0U);
  EXPECT_GT(outcome.makespan_s, 60);
  EXPECT_LT(outcome.makespan_s, 80);
}

TEST(Policies, ClairvoyantByClassDoesNotKnowWhichJobIsTheLongOne) {
  vector<SimJob> jobs;
  const auto add = [&jobs](const char* job_class, double seconds) {
    jobs.push_back(job(jobs.size() + 1, {{0, 1, 1}, {seconds, 1, 1}}));
    jobs.back().spec.job_class = job_class;
  };
  for (const double seconds : {10, 10, 10, 10, 50}) add("18 s on average", seconds);
  for (const double seconds : {20, 20}) add("20 s on average", seconds);
  const MachineConfig machine{.cores = 2, .line = 1_GiB};
  EXPECT_NEAR(simulate("clairvoyant", jobs, machine).makespan_s, 70, 0.5);
  EXPECT_NEAR(simulate("clairvoyant:class", jobs, machine).makespan_s, 90, 0.5);
}

TEST(Policies, NeedsEndFirst) {
  vector<SimJob> jobs{job(1, {{0, 1, 1}, {10, 1, 1}}), job(2, {{0, 1, 1}, {10, 1, 1}})};
  jobs[0].spec.needs = {JobId{2}};
  for (const char* policy : {"fixed:9", "memfree:1M", "fit:dot", "clairvoyant"}) {
    EXPECT_NEAR(simulate(policy, jobs, {.cores = 4, .line = 1_GiB}).makespan_s, 20, 0.2) << policy;
  }
}

TEST(Policies, AllFinishTheMixedSetOnManyMachines) {
  const vector<SimJob> jobs = mixed();
  ASSERT_EQ(jobs.size(), 60U);
  for (const double cores : {2.0, 8.0, 64.0}) {
    for (const Bytes line : {4_GiB, 8_GiB, 32_GiB}) {
      const MachineConfig machine{.cores = cores, .line = line};
      for (const char* policy : {"fixed:1", "memfree:25%", "fit:best", "fit:first", "fit:dot",
                                 "clairvoyant", "clairvoyant:class"}) {
        const Outcome outcome = simulate(policy, jobs, machine);
        EXPECT_TRUE(outcome.finished) << policy << cores;
        EXPECT_GE(outcome.makespan_s, outcome.lower_bound_s) << policy;
        EXPECT_LE(outcome.cpu_utilisation, 1.0001) << policy;
        EXPECT_LE(outcome.used_peak_mb, outcome.line_mb + 0.001) << policy;
      }
      for (const char* policy : {"fit:best", "fit:first", "fit:dot", "clairvoyant"}) {
        EXPECT_EQ(simulate(policy, jobs, machine).oom_kills, 0U) << policy << cores;
      }
    }
  }
}

TEST(Outcome, TheLowerBoundIsTheGreatestOfThree) {
  const vector<SimJob> jobs{job(1, {{0, 0, 1}, {10, 0, 1}}), job(2, {{0, 0, 4}, {5, 0, 4}})};
  EXPECT_NEAR(lower_bound_seconds(jobs, {.cores = 1, .line = 1_GiB}), 30, 1e-9);
  EXPECT_NEAR(lower_bound_seconds(jobs, {.cores = 8, .line = 1_GiB}), 10, 1e-9);
  const vector<SimJob> large{job(1, {{0, 0, 0}, {10, 2048, 0}, {20, 0, 0}})};
  EXPECT_NEAR(lower_bound_seconds(large, {.cores = 8, .line = 512_MiB}), 40, 1e-9);
}

TEST(Outcome, JsonHasTheNamesOfTheFormat) {
  const vector<SimJob> jobs{job(1, {{0, 0, 1}, {10, 512, 1}})};
  const Outcome outcome = simulate("fixed:1", jobs, {.cores = 2, .line = 1_GiB});
  const auto object = nlohmann::json::parse(to_json(outcome));
  vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  EXPECT_THAT(keys, testing::UnorderedElementsAre("policy", "finished", "jobs", "makespan_s",
                                                  "oom_kills", "evictions", "pauses", "lost_s",
                                                  "used_peak_mb", "line_mb", "cpu_utilisation",
                                                  "memory_utilisation", "lower_bound_s"));
  EXPECT_EQ(object["policy"], "fixed:1");
  EXPECT_EQ(object["finished"], true);
  EXPECT_EQ(object["line_mb"], 1024);
  EXPECT_NEAR(object["cpu_utilisation"], 0.5, 0.001);
  EXPECT_NEAR(object["memory_utilisation"], 0.25, 0.001);
  EXPECT_THAT(to_text(outcome), testing::HasSubstr("1.00 x the lower bound"));
}

}  // namespace
}  // namespace plimsoll::sim

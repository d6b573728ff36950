#include "analysis/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "analysis/comparison_text.h"

namespace plimsoll::analysis {
namespace {

using namespace plimsoll::literals;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

JobRow job(const std::string& job_class, std::uint64_t number, Bytes peak) {
  return {.id = std::to_string(number),
          .number = number,
          .job_class = job_class,
          .command = job_class + " " + std::to_string(number),
          .outcome = "exited",
          .exit_code = 0,
          .attempts = 1,
          .wall = 10s,
          .ran = 10s,
          .cpu = 5s,
          .peak = peak};
}

// Jobs of very different sizes, each so many times as large.
ComparedRun run_of(const std::string& id, std::size_t jobs, double factor) {
  ComparedRun run{.id = id, .jobs = {}};
  for (std::size_t i = 1; i <= jobs; ++i) {
    run.jobs.push_back(job("link", i, to_bytes(factor * static_cast<double>(i * i) * 1e6)));
  }
  return run;
}

const MetricChange& change_of(const ClassComparison& compared, Metric metric) {
  for (const MetricChange& change : compared.changes) {
    if (change.metric == metric) return change;
  }
  ADD_FAILURE() << "not compared: " << name_of(metric);
  return compared.changes.front();
}

TEST(Comparison, TheSameCommandsArePairsWhateverTheirSizes) {
  const Comparison comparison = compare(run_of("a", 12, 1), run_of("b", 12, 1.2));
  ASSERT_THAT(comparison.classes, SizeIs(1));
  const MetricChange& peak = change_of(comparison.classes[0], Metric::peak);
  EXPECT_EQ(peak.design, Design::paired);
  EXPECT_NEAR(std::exp(peak.change.log_ratio), 1.2, 0.001);
  EXPECT_TRUE(peak.is_beyond_noise());
  EXPECT_FALSE(change_of(comparison.classes[0], Metric::time).is_beyond_noise());
  EXPECT_TRUE(change_of(comparison.all, Metric::peak).is_beyond_noise());
}

TEST(Comparison, OtherCommandsAreSets) {
  ComparedRun other = run_of("b", 12, 1.2);
  for (JobRow& one : other.jobs) one.command += " --other";
  const Comparison comparison = compare(run_of("a", 12, 1), other);
  const MetricChange& peak = change_of(comparison.classes[0], Metric::peak);
  EXPECT_EQ(peak.design, Design::unpaired);
  // The sizes of different jobs vary far more than by a fifth.
  EXPECT_FALSE(peak.is_beyond_noise());
  EXPECT_THAT(comparison.all.changes, IsEmpty());
}

TEST(Comparison, ACommandThatStandsThereMoreOftenThanBeforeIsNoPair) {
  ComparedRun before = run_of("a", 8, 1), after = run_of("b", 8, 1);
  after.jobs.push_back(after.jobs.front());
  const Comparison comparison = compare(before, after);
  EXPECT_EQ(change_of(comparison.all, Metric::peak).change.count, 7U);
}

TEST(Comparison, OfFewJobsNothingIsBeyondNoise) {
  const Comparison comparison = compare(run_of("a", 5, 1), run_of("b", 5, 10));
  const MetricChange& peak = change_of(comparison.classes[0], Metric::peak);
  EXPECT_FALSE(peak.is_beyond_noise());
  EXPECT_FALSE(peak.change.range);
  EXPECT_NEAR(std::exp(peak.change.log_ratio), 10, 0.001);
}

TEST(Comparison, OnlyJobsThatSucceededCount) {
  ComparedRun after = run_of("b", 12, 1.2);
  for (JobRow& one : after.jobs) one.exit_code = 1;
  const Comparison comparison = compare(run_of("a", 12, 1), after);
  EXPECT_THAT(comparison.classes, IsEmpty());
  EXPECT_THAT(comparison.only_before, ElementsAre("link"));
}

TEST(Comparison, FiguresOfTheRunAreAbsentWithoutASummary) {
  ComparedRun before = run_of("a", 1, 1), after = run_of("b", 1, 1);
  before.figures.emplace();
  before.figures->makespan = 10s;
  before.figures->jobs = 5;
  before.figures->succeeded = 1;
  before.figures->small_steps = 2;
  const Comparison comparison = compare(before, after);
  const RunFigure* makespan = find_figure(comparison, "makespan");
  ASSERT_NE(makespan, nullptr);
  EXPECT_EQ(makespan->before, 10.0);
  EXPECT_EQ(makespan->after, std::nullopt);
  EXPECT_EQ(find_figure(comparison, "failed")->before, 2.0);
  EXPECT_EQ(find_figure(comparison, "nothing"), nullptr);
}

std::vector<std::string> breaches(const std::string& text, const Comparison& comparison) {
  const auto condition = parse_condition(text);
  if (!condition) {
    ADD_FAILURE() << condition.error().message();
    return {};
  }
  return breaches_of(*condition, comparison);
}

TEST(FailIf, AChangeBeyondNoiseAndBeyondTheBound) {
  const Comparison comparison = compare(run_of("a", 12, 1), run_of("b", 12, 1.2));
  EXPECT_THAT(breaches("peak > +10%", comparison), SizeIs(2));  // of the class, and of all
  EXPECT_THAT(breaches("link: peak > 10 %", comparison),
              ElementsAre(HasSubstr("class link: peak has changed by +20.0 %")));
  EXPECT_THAT(breaches("peak > +25%", comparison), IsEmpty());
  EXPECT_THAT(breaches("cc: peak > 10%", comparison), IsEmpty());
  EXPECT_THAT(breaches("time > 0%", comparison), IsEmpty());
  const Comparison shrunk = compare(run_of("a", 12, 1), run_of("b", 12, 0.5));
  EXPECT_THAT(breaches("link: peak < -10%", shrunk), SizeIs(1));
  EXPECT_THAT(breaches("peak > 10%", shrunk), IsEmpty());
  // Ten times as much, but of five jobs.
  EXPECT_THAT(breaches("peak > 10%", compare(run_of("a", 5, 1), run_of("b", 5, 10))), IsEmpty());
}

TEST(FailIf, FiguresOfTheRun) {
  ComparedRun before = run_of("a", 1, 1), after = run_of("b", 1, 1);
  before.figures.emplace();
  before.figures->makespan = 10s;
  after.figures.emplace();
  after.figures->makespan = 12s;
  after.figures->evictions = 2;
  const Comparison comparison = compare(before, after);
  EXPECT_THAT(breaches("makespan > 15%", comparison),
              ElementsAre("the run: makespan has changed by +20.0 %"));
  EXPECT_THAT(breaches("makespan > 25%", comparison), IsEmpty());
  EXPECT_THAT(breaches("evictions > 1", comparison), ElementsAre("the run: evictions is 2"));
  EXPECT_THAT(breaches("evictions > 2", comparison), IsEmpty());
  EXPECT_THAT(breaches("used > 1%", comparison), IsEmpty());  // not known
}

TEST(FailIf, WhatIsNoConditionIsRefused) {
  for (const char* text :
       {"", "peak", "peak 10%", "peak > 10", "peak > x%", "weight > 10%", "peak > --1%",
        "link: makespan > 10%", "failed > 10%", "failed > some", "> 10%", "peak > "}) {
    EXPECT_FALSE(parse_condition(text)) << text;
  }
  EXPECT_THAT(parse_condition("weight > 1%").error().message(),
              HasSubstr(R"(found "weight > 1%", in which "weight" is not peak)"));
}

TEST(ComparisonText, TellsWhatChangedAndHowSure) {
  const Comparison comparison = compare(run_of("a", 12, 1), run_of("b", 12, 1.2));
  const std::string text = comparison_text(comparison, {});
  EXPECT_THAT(text, HasSubstr("A: run a\nB: run b\n"));
  EXPECT_THAT(text, HasSubstr("+20.0 % to +20.0 %"));
  EXPECT_THAT(text, HasSubstr("no change beyond noise; --all lists all."));
  const std::string json = comparison_json(comparison, {"because"});
  EXPECT_THAT(json, HasSubstr("\"beyond_noise\": true"));
  EXPECT_THAT(json, HasSubstr("\"because\""));
}

TEST(ComparisonText, SaysThatTooFewJobsTellNothing) {
  EXPECT_THAT(comparison_text(compare(run_of("a", 2, 1), run_of("b", 2, 2)), {}),
              HasSubstr("on too few jobs to tell a change from noise."));
}

}  // namespace
}  // namespace plimsoll::analysis

#include "analysis/job_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "policy/estimator/signature.h"

namespace plimsoll::analysis {
namespace {

using namespace plimsoll::literals;
using namespace std::chrono_literals;
using ::testing::SizeIs;

constexpr const char* kReport = R"({"schema":"plimsoll.job/1","id":"a","argv":["gcc","-c","x.c"],
  "outcome":"exited","exit_code":0,"attempts":[{"outcome":"exited","wall_ns":5000000000}],
  "times":{"queued_unix_ns":7,"started_unix_ns":8,"wall_ns":5000000000,"paused_ns":1000000000},
  "cpu":{"usage_ns":2000000000},"memory":{"peak_bytes":9000,"max_bytes":10000},
  "samples":[{"t_ns":1,"used_bytes":4000,"cpu_usage_ns":1},
             {"t_ns":2,"used_bytes":3000,"cpu_usage_ns":2000000000}]})";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(JobRow, ThePeakIsTheHighestUseOfItsSamplesNotTheKernels) {
  const auto row = parse_job_row(kReport);
  ASSERT_TRUE(row);
  EXPECT_EQ(row->peak, Bytes{4000});
  EXPECT_EQ(row->kernel_peak, Bytes{9000});
  EXPECT_EQ(row->limit, Bytes{10000});
  EXPECT_EQ(row->cpu, 2s);
  EXPECT_EQ(row->queued, WallTime(7ns));
  EXPECT_EQ(row->ended, std::nullopt);
  EXPECT_TRUE(succeeded(*row));
  EXPECT_EQ(cores(*row), 0.5);  // while it ran
}

TEST(JobRow, OfAJobThatWasNeverLookedAtTheKernelsPeakStandsIn) {
  const std::string text = R"({"schema":"plimsoll.job/1","id":"a","shell":"x","outcome":"exited",
    "attempts":[{}],"memory":{"peak_bytes":9000}})";
  const auto row = parse_job_row(text);
  ASSERT_TRUE(row);
  EXPECT_EQ(row->peak, Bytes{9000});
  EXPECT_FALSE(succeeded(*row));  // nobody says with which code
  EXPECT_EQ(cores(*row), std::nullopt);
}

TEST(JobRow, OfSeveralAttemptsNobodySaysWhichWasPaused) {
  EXPECT_EQ(parse_job_row(kReport)->ran, 4s);
  const std::string twice = with(kReport, "\"attempts\":[", "\"attempts\":[{},");
  EXPECT_EQ(parse_job_row(twice)->ran, std::nullopt);
  EXPECT_EQ(parse_job_row(with(twice, "\"paused_ns\":1000000000", "\"paused_ns\":0"))->ran, 5s);
}

TEST(JobRow, AClassThatWasNotGivenIsDerivedAsInTheHistory) {
  EXPECT_EQ(parse_job_row(kReport)->job_class,
            policy::key_of(policy::Command(std::vector<std::string>{"gcc", "-c", "x.c"})).exact);
  EXPECT_EQ(
      parse_job_row(with(kReport, "\"id\":\"a\"", "\"id\":\"a\",\"class\":\"cc\""))->job_class,
      "cc");
}

TEST(JobRow, WhatNeverRanWasNotExecuted) {
  EXPECT_TRUE(was_executed(*parse_job_row(kReport)));
  EXPECT_FALSE(was_executed(*parse_job_row(with(kReport, "\"exit_code\":0", "\"exit_code\":127"))));
  EXPECT_FALSE(was_executed(
      *parse_job_row(with(kReport, "\"outcome\":\"exited\"", "\"outcome\":\"failed_to_start\""))));
  EXPECT_TRUE(was_executed(*parse_job_row(with(kReport, "\"exit_code\":0", "\"exit_code\":1"))));
}

TEST(JobRow, EventsTellNumbersAndOtherLinesArePassedOver) {
  const auto rows =
      parse_job_rows({"{\"schema\":\"plimsoll.job/1\",\"id\":\"b\"}\n", "{}", kReport},
                     {{.job = "a", .number = 3}});
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].number, 0U);
  EXPECT_EQ(rows[1].number, 3U);
}

}  // namespace
}  // namespace plimsoll::analysis

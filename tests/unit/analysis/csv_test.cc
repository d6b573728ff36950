#include "analysis/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace plimsoll::analysis {
namespace {

using namespace plimsoll::literals;
using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(Csv, WhatIsNotKnownIsAnEmptyCell) {
  const std::string text = jobs_csv({{.id = "a", .outcome = "skipped"}});
  EXPECT_THAT(text, EndsWith("\na,,,,skipped,,,0,,,,,,,,,,,,,\n"));
}

TEST(Csv, ACellWithACommaAQuoteOrANewlineIsQuoted) {
  const std::string text = jobs_csv({{.id = "a,b", .command = "say \"x\"\ny\xff"}});
  EXPECT_THAT(text, HasSubstr("\n\"a,b\",,,\"say \"\"x\"\"\ny\xEF\xBF\xBD\","));
}

// Of a job's words, as whoever names jobs may be somebody else than whoever opens the table.
TEST(Csv, ATextIsNoFormula) {
  for (const std::string begin : {"=", "+", "-", "@", "\t"}) {
    const std::string text = jobs_csv({{.id = begin + "1", .command = "a" + begin}});
    EXPECT_THAT(text, HasSubstr("\n'" + begin + "1,,,a" + begin + ","));
  }
  EXPECT_THAT(jobs_csv({{.id = "\r1", .command = "=A1,\"B\""}}),
              HasSubstr("\n\"'\r1\",,,\"'=A1,\"\"B\"\"\","));
  EXPECT_THAT(
      events_csv(
          {{.kind = policy::EventKind::held, .reason = "@why", .numbers = {{"less", -1.5}}}}),
      HasSubstr(",'@why,-1.5\n"));
}

TEST(Csv, EveryLineHasAsManyCellsAsTheHeading) {
  const std::string text = jobs_csv({{.id = "a", .number = 3, .wall = 2s, .peak = 1_MiB}});
  const auto commas = [](const std::string& line) {
    return std::count(line.begin(), line.end(), ',');
  };
  const std::size_t end = text.find('\n');
  EXPECT_EQ(commas(text.substr(0, end)), commas(text.substr(end + 1)));
}

TEST(Csv, EventsHaveAColumnForEachNumberThatOccurs) {
  EXPECT_EQ(events_csv({{.t = 5ns,
                         .kind = policy::EventKind::held,
                         .job = "a",
                         .number = 1,
                         .reason = "why, so",
                         .numbers = {{"used_bytes", 1.5}}},
                        {.t = 6ns, .kind = policy::EventKind::alarm, .numbers = {{"jobs", 2}}}}),
            "t_ns,kind,job,number,reason,jobs,used_bytes\n"
            "5,held,a,1,\"why, so\",,1.5\n"
            "6,alarm,,,,2,\n");
}

TEST(Csv, ASampleIsALine) {
  report::RecordedJob job{.id = "a"};
  counters::Sample sample;
  sample.t = 1s;
  sample.state = counters::SampleState::paused;
  sample.memory.used = 5_MiB;
  sample.cpu.usage = 20ms;
  job.usage.samples.push_back(sample);
  EXPECT_EQ(samples_csv(job), "a,1000000000,0,paused,5242880,,,20000000,,,,,,\n");
}

}  // namespace
}  // namespace plimsoll::analysis

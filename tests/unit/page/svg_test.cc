#include "page/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "page/drawing.h"
#include "page/stack.h"

namespace plimsoll::page {
namespace {

using namespace std::chrono_literals;
using namespace plimsoll::literals;
using policy::EventKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

Job job_of(const std::string& id, const std::string& job_class, Bytes peak, Attempt attempt) {
  attempt.outcome = "exited";
  attempt.peak = peak;
  Job job{.id = id, .job_class = job_class, .outcome = "exited", .exit_code = 0};
  job.attempts = {attempt};
  job.curve = {{.t = 0s, .used = Bytes{}}, {.t = *attempt.wall, .used = peak}};
  return job;
}

// Two jobs beside each other and one after them; the second is paused.
Record three_jobs() {
  Record record;
  record.jobs = {job_of("1", "cc", 10_MiB, {.start = 0s, .wall = 4s}),
                 job_of("2", "ld & <b>", 90_MiB, {.start = 1s, .wall = 9s}),
                 job_of("3", "cc", 20_MiB, {.start = 5s, .wall = 5s})};
  record.events = {{.t = 0s, .kind = EventKind::started, .job = "1"},
                   {.t = 1s, .kind = EventKind::started, .job = "2"},
                   {.t = 3s, .kind = EventKind::frozen, .job = "2", .reason = "it grows"},
                   {.t = 4s, .kind = EventKind::alarm, .numbers = {{"line_bytes", 100.0}}},
                   {.t = 6s, .kind = EventKind::thawed, .job = "2"},
                   {.t = 7s, .kind = EventKind::frozen, .job = "2"}};
  return record;
}

TEST(Drawing, PutsAttemptsIntoTheFirstFreeLane) {
  const Drawing drawing = drawing_of(three_jobs());
  EXPECT_EQ(drawing.end, 10s);
  EXPECT_EQ(drawing.lanes, 2U);
  ASSERT_THAT(drawing.attempts, SizeIs(3));
  EXPECT_EQ(drawing.attempts[0].lane, 0U);
  EXPECT_EQ(drawing.attempts[1].lane, 1U);
  EXPECT_EQ(drawing.attempts[2].lane, 0U);
}

TEST(Drawing, APauseLastsUntilTheNextThatIsSaidOrToTheEnd) {
  const Drawing drawing = drawing_of(three_jobs());
  const auto& pauses = drawing.attempts[1].pauses;
  ASSERT_THAT(pauses, SizeIs(2));
  EXPECT_EQ(pauses[0].start, 3s);
  EXPECT_EQ(pauses[0].end, 6s);
  EXPECT_EQ(pauses[0].event, 2U);
  EXPECT_EQ(pauses[1].end, 10s);
}

TEST(Drawing, ColoursTheHeaviestClassesAndAllOthersAlike) {
  EXPECT_THAT(drawing_of(three_jobs()).classes, ElementsAre("ld & <b>", "cc"));
  EXPECT_NE(colour_of(0), colour_of(7));
  EXPECT_EQ(colour_of(8), colour_of(100));
}

TEST(Drawing, KnowsWhatWentWrong) {
  Record record = three_jobs();
  record.jobs[0].exit_code = 3;
  record.jobs[1].attempts[0].outcome = "evicted";
  const Drawing drawing = drawing_of(record);
  EXPECT_TRUE(drawing.attempts[0].is_bad);
  EXPECT_FALSE(drawing.attempts[0].is_evicted);
  EXPECT_TRUE(drawing.attempts[1].is_evicted);
  EXPECT_FALSE(drawing.attempts[2].is_bad);
}

TEST(Stack, AddsClassesUpAndKeepsPeaks) {
  const Record record = three_jobs();
  const auto sums = stacked_memory(record, drawing_of(record), {.points = 11, .groups = 2});
  ASSERT_THAT(sums, SizeIs(2));
  EXPECT_DOUBLE_EQ(sums[1][2], to_double(5_MiB));
  EXPECT_DOUBLE_EQ(sums[0][2], to_double(15_MiB));
  EXPECT_DOUBLE_EQ(sums[0][10], to_double(110_MiB));
  Record with_peak = record;
  with_peak.jobs[2].curve.insert(with_peak.jobs[2].curve.begin() + 1,
                                 {.t = 2'200ms, .used = 1_GiB});
  const auto peak = stacked_memory(with_peak, drawing_of(record), {.points = 11, .groups = 2});
  EXPECT_DOUBLE_EQ(peak[1][7], to_double(1_GiB));
}

TEST(Stack, TheLineIsKnownFromTheStart) {
  Record record = three_jobs();
  EXPECT_THAT(levels_of(record, "line_bytes"), ElementsAre(std::pair(Duration{}, 100.0)));
  record.events.clear();
  record.entry.meta.line = 1_KiB;
  EXPECT_THAT(levels_of(record, "line_bytes"), ElementsAre(std::pair(Duration{}, 1024.0)));
  EXPECT_TRUE(levels_of(record, "used_bytes").empty());
}

TEST(Svg, DrawsAttemptsAndPausesAndNoMarkupOfNames) {
  const std::string svg = svg_of(three_jobs(), Picture::timeline);
  EXPECT_THAT(svg, HasSubstr("<svg xmlns"));
  EXPECT_THAT(svg, HasSubstr("ld &amp; &lt;b&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("<b>")));
  EXPECT_THAT(svg, HasSubstr("stroke-dasharray"));
  EXPECT_THAT(svg, HasSubstr(">0:10</text>"));
  EXPECT_THAT(svg, HasSubstr("</svg>\n"));
}

TEST(Svg, DrawsBarsBelowAPixelOnceForEach) {
  Record record;
  for (int i = 0; i < 20'000; ++i) {
    record.jobs.push_back(job_of(std::to_string(i), "cc", 1_MiB, {.start = i * 1ms, .wall = 1ms}));
  }
  EXPECT_LT(svg_of(record, Picture::timeline).size(), 200'000U);
}

TEST(Svg, DrawsMemoryTheLineAndAlarms) {
  const std::string svg = svg_of(three_jobs(), Picture::memory);
  EXPECT_THAT(svg, HasSubstr("class=\"line\""));
  EXPECT_THAT(svg, HasSubstr("class=\"bad\""));
  EXPECT_THAT(svg, HasSubstr("100 MiB"));
}

TEST(Svg, OfARunWithoutAJobIsWhole) {
  for (const Picture picture : {Picture::timeline, Picture::memory}) {
    const std::string svg = svg_of(Record{}, picture);
    EXPECT_THAT(svg, HasSubstr("</svg>\n"));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
  }
}

}  // namespace
}  // namespace plimsoll::page

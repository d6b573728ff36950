#include "analysis/trace/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "analysis/trace/formats.h"

namespace plimsoll::analysis {
namespace {

using namespace plimsoll::literals;
using namespace std::chrono_literals;
using policy::EventKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

report::RecordedEvent told(Duration t, EventKind kind, const std::string& job = {},
                           const std::string& reason = {}) {
  return {.t = t, .kind = kind, .job = job, .reason = reason};
}

struct Recorded {
  report::RunEntry entry{.id = "run-1"};
  std::vector<report::RecordedEvent> events = {told(0s, EventKind::started, "a"),
                                               told(1s, EventKind::frozen, "a", "it grows"),
                                               told(3s, EventKind::thawed, "a"),
                                               told(4s, EventKind::evicted, "a", "the line"),
                                               told(4s, EventKind::requeued, "a"),
                                               told(5s, EventKind::admitted, "a"),
                                               told(5s, EventKind::started, "a"),
                                               told(9s, EventKind::ended, "a"),
                                               told(9s, EventKind::alarm, "", "memory is short")};
  TracedJob job{.id = "a",
                .job_class = "link",
                .command = "ld \xff\"\n</script>",
                .outcome = "exited",
                .looks = {{.t = 1s, .used = 100_MiB, .cpu = 500ms},
                          {.t = 3s, .used = 300_MiB, .cpu = 2500ms}}};

  [[nodiscard]] TracedRun run() const {
    return {.entry = &entry, .events = &events, .jobs = {job}, .system = {}};
  }
};

const TraceLane& lane_of(const Trace& trace, const std::string& name) {
  for (const TraceLane& lane : trace.lanes) {
    if (lane.name == name) return lane;
  }
  ADD_FAILURE() << "no lane " << name;
  return trace.lanes.front();
}

const TraceCounter& counter_of(const Trace& trace, const std::string& name) {
  for (const TraceCounter& counter : trace.counters) {
    if (counter.name == name) return counter;
  }
  ADD_FAILURE() << "no counter " << name;
  return trace.counters.front();
}

TEST(Trace, APauseIsAGapThatTellsItsCause) {
  const Trace trace = trace_of(Recorded().run());
  const auto& slices = lane_of(trace, "slot 1").slices;
  ASSERT_THAT(slices, SizeIs(5));
  EXPECT_EQ(slices[0].name, "link [a]");
  EXPECT_EQ(slices[0].to, 1s);
  EXPECT_EQ(slices[1].name, "paused");
  EXPECT_THAT(slices[1].notes, ::testing::Contains(Pair("reason", "it grows")));
  EXPECT_EQ(slices[2].from, 3s);
  EXPECT_EQ(slices[3].name, "evicted");
  EXPECT_EQ(slices[4].to, 9s);
  EXPECT_THAT(lane_of(trace, "run").slices, SizeIs(1));
}

TEST(Trace, AnArrowLeadsFromTheEvictionToTheNextAttempt) {
  const Trace trace = trace_of(Recorded().run());
  const auto& slices = lane_of(trace, "slot 1").slices;
  ASSERT_THAT(slices, SizeIs(5));
  EXPECT_THAT(slices[2].arrows_out, SizeIs(1));
  EXPECT_EQ(slices[4].arrows_in, slices[2].arrows_out);
}

TEST(Trace, StretchesAddUpToTheTimeThatAttemptsRan) {
  const Recorded recorded;
  Duration drawn{}, ran{};
  const Trace trace = trace_of(recorded.run());
  for (const TraceSlice& slice : lane_of(trace, "slot 1").slices) {
    drawn += slice.to - slice.from;
  }
  for (const TimelineAttempt& attempt : timeline_of(recorded.events).attempts) ran += attempt.ran();
  EXPECT_EQ(drawn, 6s);
  EXPECT_EQ(drawn, ran);
}

TEST(Trace, SamplesAreOfTheLastAttemptAndEndWithIt) {
  const Trace trace = trace_of(Recorded().run());
  EXPECT_THAT(counter_of(trace, "memory used by jobs").points,
              ElementsAre(Pair(Duration(6s), to_double(100_MiB)),
                          Pair(Duration(8s), to_double(300_MiB)), Pair(Duration(9s), 0.0)));
  EXPECT_THAT(
      counter_of(trace, "cores used by jobs").points,
      ElementsAre(Pair(Duration(5s), 0.5), Pair(Duration(6s), 1.0), Pair(Duration(8s), 0.0)));
}

TEST(Trace, ACounterOfManyPointsKeepsItsPeaks) {
  Recorded recorded;
  recorded.job.looks.clear();
  for (int i = 0; i < 60'000; ++i) {
    recorded.job.looks.push_back(
        {.t = i * 50us,
         .used = Bytes{i == 31'234 ? 7'000'000ULL : 1000ULL + static_cast<unsigned>(i % 7)}});
  }
  const auto points = counter_of(trace_of(recorded.run()), "memory used by jobs").points;
  EXPECT_LE(points.size(), kTracePointsMax);
  double most = 0;
  Duration last{};
  for (const auto& [at, value] : points) {
    EXPECT_GE(at, last);
    last = at;
    most = std::max(most, value);
  }
  EXPECT_EQ(most, 7e6);
}

TEST(Trace, PerfettoAndChromeHaveTextOfAnyBytesAsUtf8) {
  const Trace trace = trace_of(Recorded().run());
  EXPECT_THAT(perfetto_trace(trace), HasSubstr("ld \xEF\xBF\xBD\"\n</script>"));
  const std::string chrome = chrome_trace(trace);
  EXPECT_THAT(chrome, HasSubstr("ld \xEF\xBF\xBD\\\"\\n</script>"));
  EXPECT_THAT(chrome, HasSubstr(R"("ph":"X","pid":1,"tid":3,"ts":3000000.0,"name":"link [a]")"));
  EXPECT_THAT(chrome, HasSubstr(R"("ph":"s")"));
  EXPECT_THAT(chrome, HasSubstr(R"("ph":"f")"));
}

}  // namespace
}  // namespace plimsoll::analysis

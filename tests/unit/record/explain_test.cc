#include "record/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/lists.h"
#include "runs.h"

namespace plimsoll::record {
namespace {

using namespace testing;
using policy::EventKind;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

RunEntry some_run() {
  RunEntry run{.id = "20240101-1", .path = "/runs/20240101-1", .state = RunState::finished};
  run.meta.command_line = {"plimsoll", "batch", "my jobs\x1b.txt"};
  run.figures = RunFigures{.makespan = 90s,
                           .jobs = 3,
                           .outcomes = {{"exited", 2}, {"skipped", 1}},
                           .holds = 4,
                           .pauses = 1,
                           .evictions = 1,
                           .lost_cpu = 3s,
                           .line = 2_GiB,
                           .used_peak = 1_GiB};
  return run;
}

std::vector<RecordedEvent> some_events() {
  std::vector<RecordedEvent> events = {
      event(0s, EventKind::queued, "link"),
      event(0s, EventKind::held, "link", "needs 2 GiB, 1 GiB is free"),
      event(2s, EventKind::admitted, "link", "it fits"),
      event(3s, EventKind::frozen, "link", "it grows\nfast"),
      event(5s, EventKind::evicted, "link", "no room is left"),
  };
  for (RecordedEvent& event : events) event.number = 7;
  events[1].numbers = {{"mean_bytes", 2147483648.0}, {"waited_s", 1.5}, {"cores", 2.25}};
  return events;
}

TEST(NumberText, ReadsTheUnitInTheName) {
  EXPECT_EQ(number_text("used_bytes", 1536), "used 1.50 KiB");
  EXPECT_EQ(number_text("pool_used_bytes", 0), "pool used 0 B");
  EXPECT_EQ(number_text("waited_s", 1.5), "waited 1.50 s");
  EXPECT_EQ(number_text("stalled_ns", 2e9), "stalled 2.00 s");
  EXPECT_EQ(number_text("full_percent", 12.5), "full 12.5 %");
  EXPECT_EQ(number_text("cores_busy", 2), "cores busy 2");
  EXPECT_EQ(number_text("growth_bytes", -5), "growth bytes -5");
  EXPECT_EQ(number_text("far_s", 1e300), "far s 1e+300");
  EXPECT_EQ(number_text("x\x1b", 1), "x? 1");
}

TEST(ExplainRun, TellsWhatHeldAndWhatWasLost) {
  const std::string text = explain_run(some_run(), some_events(), {.width = 100});
  EXPECT_THAT(text, AllOf(HasSubstr("Run 20240101-1, finished: plimsoll batch"),
                          HasSubstr("3 (2 exited, 1 skipped)"), HasSubstr("2.00 GiB,"),
                          HasSubstr("What held the run"), HasSubstr("needs 2 GiB, 1 GiB is free"),
                          HasSubstr("Pauses"), HasSubstr("it grows?fast"),
                          HasSubstr("Attempts ended for their memory"),
                          HasSubstr("no room is left"), Not(HasSubstr("\x1b"))));
}

TEST(ExplainRun, TellsWhatConcernsNoSingleJob) {
  std::vector<RecordedEvent> events = some_events();
  events.push_back(event(6s, EventKind::reclaimed, "", "memory is short by 5 MiB"));
  events.push_back(event(7s, EventKind::line, "", "the user wants 1 GiB"));
  events.push_back(event(9s, EventKind::reclaimed, "", "memory is short by 7 MiB"));
  const std::string text = explain_run(some_run(), events, {.width = 100});
  EXPECT_THAT(text,
              AllOf(ContainsRegex("6.00 s +9.00 s +2 +reclaimed +memory is short by \\.\\.\\.\n"),
                    ContainsRegex("7.00 s +7.00 s +1 +line +the user wants 1 GiB\n")));
}

TEST(ExplainRun, ThatDied) {
  RunEntry run = some_run();
  run.figures.reset();
  run.state = RunState::died;
  EXPECT_THAT(explain_run(run, {}, {}),
              AllOf(HasSubstr("which died"), HasSubstr("No event of it was recorded.")));
  EXPECT_THAT(explain_run(run, {event(0s, EventKind::queued, "a")}, {}),
              HasSubstr("Nothing held the run."));
}

TEST(ExplainRun, ListsAreBounded) {
  std::vector<RecordedEvent> events;
  for (std::size_t i = 0; i < kDecisionsListedMax + 3; ++i) {
    events.push_back(event(1s, EventKind::evicted, std::to_string(i), "no room"));
  }
  EXPECT_THAT(explain_run(some_run(), events, {}), HasSubstr("and 3 more"));
}

TEST(EventsOf, ByNameThenByNumber) {
  std::vector<RecordedEvent> events = some_events();
  events.push_back(event(6s, EventKind::queued, "7"));
  events.back().number = 9;
  EXPECT_THAT(events_of(events, "link"), SizeIs(5));
  EXPECT_THAT(events_of(events, "7"), SizeIs(1));
  EXPECT_THAT(events_of(events, "9"), SizeIs(1));
  EXPECT_THAT(events_of(events, "8"), IsEmpty());
}

TEST(ExplainJob, TellsTheWholeStory) {
  JobBrief end{.id = "link", .command = "ld -o app", .outcome = "exited"};
  end.exit_code = 0;
  end.attempts = 2;
  end.wall = 8s;
  end.peak = 1_GiB;
  const std::string text = explain_job(some_run(), some_events(), end, {.width = 100});
  EXPECT_THAT(
      text, AllOf(HasSubstr("Job link (number 7) of run 20240101-1: ld -o app"), HasSubstr("held"),
                  HasSubstr("mean 2.00 GiB, waited 1.50 s, cores 2.25"), HasSubstr("admitted"),
                  HasSubstr("it fits"), HasSubstr("frozen"), HasSubstr("evicted"),
                  HasSubstr("Ended: exited with code 0 after 8.00 s, attempt 2, peak "
                            "1.00 GiB")));
}

TEST(ExplainJob, ThatHasOnlyAnEnd) {
  const JobBrief end{
      .id = "3", .command = "", .outcome = "skipped", .reason = "what it needs failed"};
  const std::string text = explain_job(some_run(), {}, end, {.width = 100});
  EXPECT_THAT(text, AllOf(HasSubstr("Job 3 of run 20240101-1\n"),
                          HasSubstr("Ended: skipped; what it needs failed")));
}

TEST(RunsText, HasALineForEachRun) {
  RunEntry died = some_run();
  died.figures.reset();
  died.state = RunState::died;
  const std::string text = runs_text({some_run(), died}, {.width = 200});
  EXPECT_THAT(text, AllOf(HasSubstr("20240101-1"), HasSubstr("1m30s"), HasSubstr("2.00 GiB"),
                          HasSubstr("2 exited, 1 skipped"), HasSubstr("died"),
                          HasSubstr("plimsoll batch"), Not(HasSubstr("\x1b"))));
  const std::string json = to_json(std::vector{some_run(), died}, JsonForm::line);
  EXPECT_THAT(json,
              AllOf(HasSubstr(R"("schema":"plimsoll.runs/1")"),
                    HasSubstr(R"("makespan_ns":90000000000)"), HasSubstr(R"("state":"died")")));
}

TEST(HistoryText, HasALineForEachClass) {
  history::ClassSummary summary{.key = {.exact = "cc -c\n", .tool = "cc"},
                                .count = 12,
                                .at_least = 1,
                                .peak = {.p50 = 1_MiB, .p90 = 2_MiB, .max = 3_MiB},
                                .ran = {.p50 = 1s, .p90 = 2s, .max = 3s},
                                .cores = {}};
  EXPECT_THAT(history_text({summary}, {.width = 200}),
              AllOf(HasSubstr("cc -c?"), HasSubstr(">= 3.00 MiB"), HasSubstr("2.00 s")));
  EXPECT_THAT(to_json(std::vector{summary}, JsonForm::line),
              AllOf(HasSubstr(R"("schema":"plimsoll.history/1")"), HasSubstr(R"("at_least":1)"),
                    HasSubstr(R"("peak_bytes":{"p50":1048576,)"), Not(HasSubstr("cores"))));
}

}  // namespace
}  // namespace plimsoll::record

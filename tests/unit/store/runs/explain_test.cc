#include "store/runs/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runs.h"
#include "store/runs/lists.h"

namespace plimsoll::report {
namespace {

// Of a step of a build only its parent knows how it has exited.
TEST(HasFailed, NothingBadIsKnownOfAnExitWithoutACode) {
  EXPECT_FALSE(has_failed({.outcome = "exited"}));
  EXPECT_FALSE(has_failed({.outcome = "exited", .exit_code = 0}));
  EXPECT_TRUE(has_failed({.outcome = "exited", .exit_code = 1}));
  EXPECT_TRUE(has_failed({.outcome = "over_line"}));
}

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

TEST(ExplainRun, TellsWhatHeldAndWhatWasLost) {
  const std::string text = explain_run(some_run(), some_events(), {.width = 100});
  EXPECT_THAT(text, AllOf(HasSubstr("Run 20240101-1, finished: plimsoll batch"),
                          HasSubstr("3 (2 exited, 1 skipped)"), HasSubstr("2.00 GiB,"),
                          HasSubstr("Why jobs waited"), HasSubstr("needs 2 GiB, 1 GiB is free"),
                          HasSubstr("Pauses"), HasSubstr("it grows?fast"),
                          HasSubstr("Attempts that were ended to free memory"),
                          HasSubstr("no room is left"), Not(HasSubstr("\x1b"))));
}

TEST(ExplainRun, TellsWhatConcernsNoSingleJob) {
  std::vector<RecordedEvent> events = some_events();
  events.push_back(event(6s, EventKind::reclaimed, "", "memory is short by 5 MiB"));
  events.push_back(event(7s, EventKind::line, "", "the user wants 1 GiB"));
  events.push_back(event(9s, EventKind::reclaimed, "", "memory is short by 7 MiB"));
  const std::string text = explain_run(some_run(), events, {.width = 100});
  EXPECT_THAT(text,
              AllOf(ContainsRegex("6.00 s +9.00 s +2 +reclaimed +memory is short by 5 to 7 MiB\n"),
                    ContainsRegex("7.00 s +7.00 s +1 +line +the user wants 1 GiB\n")));
}

TEST(ExplainRun, SaysWhatItsRecordLacks) {
  RunEntry run = some_run();
  EXPECT_THAT(explain_run(run, some_events(), {}), Not(HasSubstr("incomplete")));
  run.meta.left_out = {.unstarted = 7, .beyond = 0, .late = 3, .unwritten = 0};
  EXPECT_THAT(explain_run(run, some_events(), {.width = 300}),
              AllOf(HasSubstr(
                  "record       incomplete: 7 events and reports of jobs that never "
                  "started are left out, because the record is large, 3 events and reports were "
                  "lost")));
  run.meta.left_out = {.unstarted = 0, .beyond = 1, .late = 0, .unwritten = 0};
  EXPECT_THAT(explain_run(run, some_events(), {.width = 300}),
              HasSubstr("incomplete: 1 event or report is left out, because the record is full"));
}

TEST(ExplainRun, ThatDied) {
  RunEntry run = some_run();
  run.figures.reset();
  run.state = RunState::died;
  EXPECT_THAT(explain_run(run, {}, {}),
              AllOf(HasSubstr("which died"), HasSubstr("No event of this run was recorded.")));
  EXPECT_THAT(explain_run(run, {event(0s, EventKind::queued, "a")}, {}),
              HasSubstr("No job had to wait."));
  run.meta.jobs = 4;
  std::vector<RecordedEvent> events = {
      event(0s, EventKind::started, "a"), event(1s, EventKind::started, "b"),
      event(2s, EventKind::ended, "b"), event(3s, EventKind::started, "c")};
  EXPECT_THAT(explain_run(run, events, {}),
              AllOf(ContainsRegex("jobs +1 of 4 ended, 2 running when it died\n"),
                    ContainsRegex("running +a, c\n"), HasSubstr("at least 3.00 s")));
  for (int job = 0; job < 12; ++job) {
    events.push_back(event(4s, EventKind::started, std::to_string(job)));
  }
  EXPECT_THAT(explain_run(run, events, {.width = 200}), HasSubstr(", and 4 more\n"));
}

TEST(ExplainRun, OfACommandSpeaksOfSteps) {
  RunEntry run = some_run();
  run.meta.kind = RunKind::governed;
  run.figures->succeeded = 2;
  run.figures->jobs = 5;
  run.figures->small_steps = 2;
  EXPECT_THAT(explain_run(run, {}, {}), ContainsRegex("steps +5 \\(2 ok, 1 skipped, 2 small\\)\n"));
  EXPECT_THAT(runs_text({run}, {.width = 200}), HasSubstr("  5  2 ok, 1 skipped, 2 small  "));
  run.figures = RunFigures{};
  EXPECT_THAT(explain_run(run, {}, {}), ContainsRegex("steps +0\n"));
  run.figures.reset();
  run.state = RunState::died;
  const std::vector<RecordedEvent> events = {event(0s, EventKind::started, "1"),
                                             event(1s, EventKind::started, "2"),
                                             event(2s, EventKind::ended, "1")};
  EXPECT_THAT(explain_run(run, events, {}),
              ContainsRegex("steps +1 ended, 1 running when it died\n"));
  EXPECT_THAT(runs_text({run}, {.width = 200}), ContainsRegex("died +-  -  "));
  EXPECT_THAT(to_json(std::vector{run}, JsonForm::line), Not(HasSubstr("\"jobs\"")));
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
      text,
      AllOf(HasSubstr("Job link (number 7) of run 20240101-1: ld -o app"), HasSubstr("held"),
            HasSubstr("mean 2.00 GiB, waited 1.50 s, cores to use 2.25"), HasSubstr("admitted"),
            HasSubstr("it fits"), HasSubstr("frozen"), HasSubstr("evicted"),
            HasSubstr("Ended: exited with code 0 after 8.00 s, attempt 2, peak "
                      "1.00 GiB")));
}

TEST(NumbersLegend, ExplainsEachNumberOnce) {
  std::vector<RecordedEvent> events = some_events();
  EXPECT_THAT(numbers_legend(events, {.width = 100}),
              ContainsRegex("^\n  NUMBER +MEANING\n  cores to use +cores that all jobs"));
  events[1].numbers = {{"mean_bytes", 1}};
  EXPECT_EQ(numbers_legend(events, {.width = 100}), "") << "of a number that is not known";
  events[1].numbers = {{"line_bytes", 1}, {"used_bytes", 1}};
  events[2].numbers = {{"line_bytes", 2}};
  EXPECT_THAT(
      numbers_legend(events, {.width = 100}),
      ContainsRegex("\n  line +memory that all jobs together may use\n  used +memory[^\n]+\n$"));
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
                          HasSubstr("2 exited, 1 skipped"), HasSubstr("died"), HasSubstr("  batch"),
                          Not(HasSubstr("\x1b"))));
  const std::string json = to_json(std::vector{some_run(), died}, JsonForm::line);
  EXPECT_THAT(json,
              AllOf(HasSubstr(R"("schema":"plimsoll.runs/1")"),
                    HasSubstr(R"("makespan_ns":90000000000)"), HasSubstr(R"("state":"died")")));
}

TEST(RunsText, TellsGoodFromBad) {
  RunEntry run = some_run();
  run.figures->succeeded = 1;
  EXPECT_THAT(runs_text({run}, {.width = 200}), HasSubstr("1 ok, 1 failed, 1 skipped"));
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    widest = std::max(widest, end - begin);
    begin = end + 1;
  }
  return widest;
}

TEST(RunsText, FitsTheTerminal) {
  RunEntry run = some_run();
  run.id = "20261121-035916-3f2a91c4";
  run.meta.command_line = {"plimsoll", "batch", "-k", "--", "convert", "{}", std::string(200, 'x')};
  run.figures->outcomes = {{"exited", 100000}, {"skipped", 20000}, {"timed_out", 300}};
  run.figures->succeeded = 90000;
  for (const std::size_t width : {60u, 80u, 100u, 132u}) {
    const std::string text = runs_text({run}, {.width = width});
    EXPECT_LE(widest_line(text), width);
    EXPECT_THAT(text, HasSubstr("  batch -k --"));
  }
  EXPECT_THAT(runs_text({run}, {.width = 80}), HasSubstr("90000 ok, 10000 failed"));
}

TEST(HistoryText, FitsTheTerminal) {
  history::ClassSummary summary{
      .key = {.exact = "python3 train.py --a-long-option " + std::string(100, 'x'),
              .tool = "python3"},
      .count = 12,
      .at_least = 1,
      .peak = {.p50 = 1001_MiB, .p90 = 1002_MiB, .max = 1003_MiB},
      .ran = {.p50 = 1s, .p90 = 2s, .max = 3s},
      .cores = {}};
  for (const std::size_t width : {60u, 80u, 100u, 132u}) {
    const std::string text = history_text({summary}, {.width = width});
    EXPECT_LE(widest_line(text), width);
    EXPECT_THAT(text, HasSubstr("python3 train.py --a"));
  }
}

// Of a daemon, which keeps users apart.
TEST(HistoryText, SaysWhatWasWrittenWhereThatIsKnown) {
  history::ClassSummary silent, writes;
  silent.key.exact = "cc";
  writes.key.exact = "ld";
  EXPECT_EQ(history_text({silent}, {.width = 200}).find("WRITTEN"), std::string::npos);
  writes.written = {.p50 = 1_MiB, .p90 = 20_MiB, .max = 30_MiB};
  const std::string text = history_text({silent, writes}, {.width = 200});
  EXPECT_THAT(text, HasSubstr("WRITTEN P90"));
  EXPECT_THAT(text, HasSubstr("20.0 MiB"));
}

TEST(HistoryText, SaysWhoseClassItIs) {
  history::ClassSummary own{.key = {.exact = "cc", .tool = ""}, .peak = {}, .ran = {}, .cores = {}};
  history::ClassSummary others = own;
  others.key.owner = 4711;
  const std::string text = history_text({own, others}, {.width = 200});
  EXPECT_THAT(text, AllOf(HasSubstr("UID  CLASS"), HasSubstr("4711  cc"), HasSubstr("-  cc")));
  const std::string json = to_json(std::vector{own, others}, JsonForm::line);
  EXPECT_THAT(
      json, AllOf(HasSubstr(R"("class":"cc","uid":4711,)"), HasSubstr(R"("class":"cc","count")")));
}

TEST(HistoryText, HasALineForEachClass) {
  history::ClassSummary summary{.key = {.exact = "cc -c\n", .tool = "cc"},
                                .count = 12,
                                .at_least = 1,
                                .peak = {.p50 = 1_MiB, .p90 = 2_MiB, .max = 3_MiB},
                                .ran = {.p50 = 1s, .p90 = 2s, .max = 3s},
                                .cores = {}};
  EXPECT_THAT(history_text({summary}, {.width = 200}),
              AllOf(HasSubstr("cc -c?"), HasSubstr(">= 3.00 MiB"), HasSubstr("2.00 s"),
                    Not(HasSubstr("UID"))));
  EXPECT_THAT(to_json(std::vector{summary}, JsonForm::line),
              AllOf(HasSubstr(R"("schema":"plimsoll.history/1")"), HasSubstr(R"("at_least":1)"),
                    HasSubstr(R"("peak_bytes":{"p50":1048576,)"), Not(HasSubstr("cores"))));
}

}  // namespace
}  // namespace plimsoll::report

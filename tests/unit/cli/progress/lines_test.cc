#include "cli/progress/lines.h"

#include <gtest/gtest.h>

namespace plimsoll::cli {
namespace {

using namespace std::chrono_literals;
using policy::Event;
using policy::EventKind;

policy::JobSpec job(unsigned number, const char* name) {
  policy::JobSpec spec;
  spec.id = JobId{number};
  spec.name = name;
  spec.command = std::string("make all");
  return spec;
}

policy::Event event(policy::EventKind kind, const char* reason) {
  return {.at = {}, .kind = kind, .job = JobId{7}, .reason = reason, .numbers = {}};
}

const report::SharedText kAlone;
const LineStyle kUncut{.width = 0, .commands = kAlone};

TEST(EventLine, TellsWhatPeopleWantToKnow) {
  const policy::JobSpec named = job(7, "link\nchrome"), plain = job(7, "7");
  const Tally tally{.ended = 3, .jobs = 120};
  const auto line = [&](EventKind kind, const char* reason, const policy::JobSpec* whose) {
    return event_line(event(kind, reason), whose, tally, kUncut);
  };
  EXPECT_EQ(line(EventKind::started, "it fits", &plain), "[  3/120] job 7 started: make all");
  EXPECT_EQ(line(EventKind::frozen, "grows by 1 GiB a second", &named),
            "[  3/120] job link?chrome paused: grows by 1 GiB a second");
  EXPECT_EQ(line(EventKind::thawed, "there is room", &plain),
            "[  3/120] job 7 resumed: make all: there is room");
  EXPECT_EQ(line(EventKind::evicted, "2 GiB are missing", &named),
            "[  3/120] job link?chrome evicted: 2 GiB are missing");
  EXPECT_EQ(line(EventKind::line, "it is at 4 GiB now", nullptr),
            "[  3/120] line: it is at 4 GiB now");
  EXPECT_EQ(line(EventKind::queued, "", &plain), std::nullopt);
  EXPECT_EQ(line(EventKind::ended, "", &plain), std::nullopt);
}

TEST(EventLine, LeavesRetriesToTheNoticeThatTellsThem) {
  const policy::JobSpec plain = job(7, "7");
  EXPECT_EQ(
      event_line(event(EventKind::requeued, "attempt 1 exited with code 1"), &plain, {}, kUncut),
      std::nullopt);
}

TEST(EndLine, TellsHowItEnded) {
  report::JobReport report;
  report.outcome = policy::Outcome::exited;
  report.exit_code = 0;
  report.times.wall = 1200ms;
  EXPECT_EQ(end_line(job(7, "7"), report, {.ended = 12, .jobs = 12}, kUncut),
            "[12/12] job 7 done in 1.20 s: make all");
  report.exit_code = 2;
  EXPECT_EQ(end_line(job(7, "x"), report, {.ended = 1, .jobs = 12}, kUncut),
            "[ 1/12] job x exited with code 2 in 1.20 s");
}

TEST(EndLine, SaysWhyAJobWasSkipped) {
  report::JobReport report;
  report.outcome = policy::Outcome::skipped;
  report.reason = "not started: the run was interrupted";
  EXPECT_EQ(end_line(job(7, "7"), report, {.ended = 1, .jobs = 2}, kUncut),
            "[1/2] job 7 was skipped: make all: not started: the run was interrupted");
}

TEST(EndLine, CutsCommandsOnlyForATerminal) {
  const std::string begin = "/usr/lib/a/long/way/to/the/encoder --quiet --preset slow -i ";
  report::SharedText commands;
  policy::JobSpec one = job(1, "1");
  for (const char* clip : {"clip1.mkv", "clip2.mkv"}) {
    one.command = begin + clip;
    commands.add(begin + clip);
  }
  report::JobReport report;
  report.outcome = policy::Outcome::exited;
  report.exit_code = 0;
  const Tally tally{.ended = 2, .jobs = 2};
  EXPECT_EQ(end_line(one, report, tally, {.width = 0, .commands = commands}),
            "[2/2] job 1 done: " + begin + "clip2.mkv");
  EXPECT_EQ(end_line(one, report, tally, {.width = 60, .commands = commands}),
            "[2/2] job 1 done: ..clip2.mkv");
}

}  // namespace
}  // namespace plimsoll::cli

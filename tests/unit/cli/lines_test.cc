#include "cli/lines.h"

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

TEST(EventLine, TellsWhatPeopleWantToKnow) {
  const policy::JobSpec named = job(7, "link\nchrome"), plain = job(7, "7");
  const Tally tally{.ended = 3, .jobs = 120};
  EXPECT_EQ(event_line(event(policy::EventKind::started, "it fits"), &plain, tally),
            "[  3/120] started: make all");
  EXPECT_EQ(event_line(event(policy::EventKind::frozen, "grows by 1 GiB a second"), &named, tally),
            "[  3/120] paused: link?chrome: grows by 1 GiB a second");
  EXPECT_EQ(event_line(event(policy::EventKind::thawed, "there is room"), &named, tally),
            "[  3/120] resumed: link?chrome: there is room");
  EXPECT_EQ(event_line(event(policy::EventKind::evicted, "2 GiB are missing"), &named, tally),
            "[  3/120] evicted: link?chrome: 2 GiB are missing");
  EXPECT_EQ(event_line(event(policy::EventKind::line, "it is at 4 GiB now"), nullptr, tally),
            "[  3/120] line: it is at 4 GiB now");
  EXPECT_EQ(event_line(event(policy::EventKind::queued, ""), &plain, tally), std::nullopt);
  EXPECT_EQ(event_line(event(policy::EventKind::ended, ""), &plain, tally), std::nullopt);
}

TEST(EndLine, TellsHowItEnded) {
  record::JobReport report;
  report.outcome = policy::Outcome::exited;
  report.exit_code = 0;
  report.times.wall = 1200ms;
  EXPECT_EQ(end_line(job(7, "7"), report, {.ended = 12, .jobs = 12}),
            "[12/12] done in 1.20 s: make all");
  report.exit_code = 2;
  EXPECT_EQ(end_line(job(7, "x"), report, {.ended = 1, .jobs = 12}),
            "[ 1/12] exited with code 2 in 1.20 s: x");
}

}  // namespace
}  // namespace plimsoll::cli

#include "supervisor/doctor/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace plimsoll::report {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

DoctorReport report() {
  return {.why_not = {},
          .sections = {{"Host", {{.id = "kernel", .value = "Linux 6.12"}}},
                       {"Memory",
                        {{.id = "memory.high",
                          .state = CheckState::missing,
                          .value = "cgroup v1 has no such file",
                          .cost = "no throttle at the line",
                          .remedy = "see layout"},
                         {.id = "memory.peak",
                          .state = CheckState::degraded,
                          .value = "can't be reset",
                          .cost = "parts of a job have no peak"}}}}};
}

TEST(DoctorJson, HasTheKeysOfItsDocument) {
  EXPECT_EQ(json::parse(to_json(report(), JsonForm::pretty)), json::parse(R"({
    "schema": "plimsoll.doctor/1",
    "can_run": true,
    "checks": [
      {"id": "kernel", "section": "Host", "state": "ok", "value": "Linux 6.12"},
      {"id": "memory.high", "section": "Memory", "state": "missing",
       "value": "cgroup v1 has no such file", "cost": "no throttle at the line",
       "remedy": "see layout"},
      {"id": "memory.peak", "section": "Memory", "state": "degraded", "value": "can't be reset",
       "cost": "parts of a job have no peak"}]})"));
}

TEST(DoctorJson, SaysWhyNoJobCanBeRun) {
  DoctorReport unable = report();
  unable.why_not = "no group can be made";
  const json document = json::parse(to_json(unable, JsonForm::line));
  EXPECT_EQ(document["can_run"], false);
  EXPECT_EQ(document["why_not"], "no group can be made");
}

TEST(DoctorJson, IsValidWhateverTheKernelSays) {
  DoctorReport odd = report();
  odd.sections[0].checks[0].value = "\xff\"\n";
  EXPECT_TRUE(json::accept(to_json(odd, JsonForm::line)));
}

TEST(DoctorText, StandsInColumnsWithCostAndRemedyBelow) {
  EXPECT_EQ(doctor_text(report(), {.width = 60}),
            R"(Jobs can run here: 1 checks ok, 1 degraded, 1 missing.

Host
  ok        kernel       Linux 6.12

Memory
  missing   memory.high  cgroup v1 has no such file
            costs:  no throttle at the line
            to add: see layout
  degraded  memory.peak  can't be reset
            costs:  parts of a job have no peak
)");
}

TEST(DoctorText, WrapsAtTheWidthUnderItsColumn) {
  DoctorReport wordy{.why_not = {}, .sections = {{"S", {{.id = "x", .value = ""}}}}};
  for (int i = 0; i < 20; ++i) wordy.sections[0].checks[0].value += "word ";
  const std::string text = doctor_text(wordy, {.width = 50});
  EXPECT_THAT(text, HasSubstr("  ok        x  word word word word word word word\n"
                              "               word word"));
}

TEST(DoctorText, LeadsWithTheReasonWhereNothingCanBeRun) {
  DoctorReport unable = report();
  unable.why_not = "no group";
  EXPECT_TRUE(doctor_text(unable, {}).starts_with("No job can run here: no group\n"));
}

TEST(DoctorText, IsColouredOnlyWhenAskedAndNeverByWhatItShows) {
  DoctorReport odd = report();
  odd.sections[0].checks[0].value = "\x1b[31mred";
  EXPECT_THAT(doctor_text(odd, {}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(doctor_text(odd, {.width = 80, .colour = Colour::ansi}),
              HasSubstr("\x1b[33mdegraded\x1b[0m"));
}

}  // namespace
}  // namespace plimsoll::report

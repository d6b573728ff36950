#include "record/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/plain.h"
#include "reports.h"

namespace plimsoll::record {
namespace {

using namespace testing;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::size_t widest_line(std::string_view text) {
  std::size_t widest = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    widest = std::max(widest, columns_of(text.substr(0, end)));
    text.remove_prefix(end + 1);
  }
  return widest;
}

JobReport sized(unsigned number, Bytes peak, Duration cpu, Duration io_stall) {
  JobReport report;
  report.id = std::to_string(number);
  report.command = "cc -c a-file-with-a-long-name-" + std::to_string(number) + ".c -o object.o";
  report.outcome = policy::Outcome::exited;
  report.exit_code = 0;
  report.times.wall = 2 * cpu;
  report.usage.emplace();
  report.usage->totals.memory.peak = peak;
  report.usage->totals.cpu.usage = cpu;
  report.usage->totals.io.pressure = pressure(io_stall, 0s);
  return report;
}

TEST(JobSummary, TellsWhatIsKnown) {
  EXPECT_EQ(job_summary(full_report(), {}),
            "plimsoll: went over its own memory limit: reached its limit of 2 GiB\n"
            "  time         wall 4.00 s, user 2.00 s, system 1.00 s, CPU 75 %,\n"
            "               throttled 50.0 ms, held 6.00 s, paused 1.50 s\n"
            "  memory       peak 1.00 GiB of 2.00 GiB (50 %), swap peak 2.00 MiB,\n"
            "               largest process 900 MiB\n"
            "  io           read 1.00 KiB, written 2.00 KiB\n"
            "  stall        cpu 30.0 ms, memory 20.0 ms (full 10.0 ms),\n"
            "               io 2.00 s (full 1.00 s)\n"
            "  pids         peak 8\n"
            "  network      received 100 B, sent 200 B\n"
            "  left behind  sccache (pid 4711)\n"
            "  attempts     evicted, over_limit\n");
}

TEST(JobSummary, LeavesOutWhatIsNot) {
  EXPECT_EQ(job_summary(bare_report(), {}),
            "plimsoll: was skipped: not started: interrupted by the user\n");
}

TEST(JobSummary, SaysWhyFiguresAreMissingOnlyIfAsked) {
  const std::string text = job_summary(full_report(), {.detail = Detail::verbose});
  EXPECT_THAT(text, EndsWith("  no io.pressure: PSI is off\n  no network: no veth\n"));
}

TEST(JobSummary, IsColouredOnlyIfAsked) {
  EXPECT_THAT(job_summary(full_report(), {}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(job_summary(full_report(), {.colour = Colour::ansi}),
              StartsWith("plimsoll: \x1b[31mwent over its own memory limit\x1b[0m: "));
}

TEST(JobSummary, TextFromOutsideCantControlTheTerminal) {
  JobReport report = full_report();
  report.reason = "bad \x1b[2J";
  report.left_behind[0].comm = "x\n\xff";
  const std::string text = job_summary(report, {});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("x?? (pid 4711)"));
}

TEST(JobSummary, KeepsToItsWidth) {
  for (const std::size_t width : {60u, 80u, 120u}) {
    JobReport report = full_report();
    report.reason.clear();
    EXPECT_LE(widest_line(job_summary(report, {.width = width})), width);
  }
}

TEST(Digest, KeepsTheHeaviestByEachWeight) {
  Digest digest(2);
  digest.add(sized(1, 100_MiB, 3s, 0s));
  digest.add(sized(2, 300_MiB, 1s, 2s));
  digest.add(sized(3, 200_MiB, 2s, 0s));
  digest.add(sized(4, 300_MiB, 2s, 0s));
  digest.add(bare_report());
  const auto ids = [&digest](Weight by) {
    std::string text;
    for (const JobFigures& job : digest.heaviest(by)) text += job.id + ' ';
    return text;
  };
  EXPECT_EQ(ids(Weight::memory), "2 4 ");
  EXPECT_EQ(ids(Weight::cpu), "1 3 ");
  EXPECT_EQ(ids(Weight::stall), "2 ");
  EXPECT_EQ(digest.jobs(), 5u);
  EXPECT_EQ(digest.succeeded(), 4u);
  EXPECT_EQ(digest.skipped(), 1u);
}

TEST(HeaviestTable, FitsEveryTerminal) {
  Digest digest(3);
  digest.add(sized(1, 1_GiB, 90s, 0s));
  digest.add(sized(2, 12_MiB, 1s, 1500ms));
  EXPECT_EQ(heaviest_table(digest, Weight::memory, {.width = 60}),
            "heaviest by memory:\n"
            "    memory     cpu    wall      stall  job\n"
            "  1.00 GiB   1m30s   3m00s          0  1: cc -c a-file-wit..\n"
            "  12.0 MiB  1.00 s  2.00 s  1.50 s io  2: cc -c a-file-wit..\n");
  EXPECT_EQ(heaviest_table(digest, Weight::cpu, {.width = 80}),
            "heaviest by CPU time:\n"
            "    memory     cpu    wall      stall  outcome  job\n"
            "  1.00 GiB   1m30s   3m00s          0  exited   1: cc -c a-file-with-a-long-na..\n"
            "  12.0 MiB  1.00 s  2.00 s  1.50 s io  exited   2: cc -c a-file-with-a-long-na..\n");
  for (const std::size_t width : {60u, 80u, 120u}) {
    const std::string text = heaviest_table(digest, Weight::stall, {.width = width});
    EXPECT_THAT(text, StartsWith("heaviest by stall:\n"));
    EXPECT_LE(widest_line(text), width);
  }
  EXPECT_THAT(heaviest_table(digest, Weight::memory, {.width = 120}),
              HasSubstr("-2.c -o object.o\n"));
  EXPECT_EQ(heaviest_table(Digest(3), Weight::memory, {}), "");
}

TEST(HeaviestTable, ShowsUnknownFiguresAsSuch) {
  Digest digest(3);
  JobReport report = bare_report();
  report.outcome = policy::Outcome::timed_out;
  report.usage.emplace();
  report.usage->totals.memory.peak = 1_MiB;
  digest.add(report);
  EXPECT_EQ(heaviest_table(digest, Weight::memory, {}),
            "heaviest by memory:\n"
            "    memory  cpu  wall  stall  outcome    job\n"
            "  1.00 MiB    -     -      -  timed_out  7: make all\n");
}

TEST(RunText, ListsTheFailedOnes) {
  Digest digest(3);
  digest.add(sized(1, 1_MiB, 1s, 0s));
  JobReport failed = sized(2, 1_MiB, 1s, 0s);
  failed.exit_code = 2;
  digest.add(failed);
  JobReport lost = sized(3, 1_MiB, 1s, 0s);
  lost.outcome = policy::Outcome::timed_out;
  lost.reason = "timed out after 10 s";
  lost.command = std::string();
  digest.add(lost);
  digest.add(bare_report());
  RunSummary summary;
  summary.makespan = 65s;
  summary.outcomes = {
      {policy::Outcome::exited, 2}, {policy::Outcome::timed_out, 1}, {policy::Outcome::skipped, 1}};
  summary.cpu_usage = 12s;
  summary.lost_cpu = 0s;
  summary.line = 8_GiB;
  summary.used_peak = 6_GiB;
  summary.oom_kills = 1;
  summary.holds = 3;
  summary.unavailable = {{"machine", "no /proc"}};
  summary.calibration.add({.mean = 100, .spread = 10}, Bytes{50}, 10s);
  summary.calibration.add({.mean = 100, .spread = 10}, Bytes{111}, 10s);
  EXPECT_EQ(run_text(summary, digest, {.detail = Detail::verbose}),
            "plimsoll: 1 of 4 jobs succeeded in 1m05s\n"
            "  outcomes     exited 2, timed_out 1, skipped 1\n"
            "  cpu          used 12.0 s\n"
            "  memory       used peak 6.00 GiB of 8.00 GiB (75 %), kernel kills 1\n"
            "  governor     holds 3\n"
            "failed:\n"
            "  2: exited with code 2 [cc -c a-file-with-a-long-name-2.c -o object.o]\n"
            "  3: timed out after 10 s\n"
            "  estimates    50 % of the jobs above theirs, 0 % by far, 25 % reserved in vain\n"
            "  no machine: no /proc\n");
}

TEST(RunText, IsBounded) {
  Digest digest(3);
  for (unsigned i = 1; i <= kFailedListedMax + 5; ++i) {
    JobReport failed = sized(i, 1_MiB, 1s, 0s);
    failed.exit_code = 1;
    digest.add(failed);
  }
  for (const std::size_t width : {60u, 80u, 120u}) {
    const std::string text = run_text({}, digest, {.width = width});
    EXPECT_THAT(text, EndsWith("  and 5 more\n"));
    EXPECT_LE(widest_line(text), width);
  }
}

TEST(RunText, OfAGoodRunIsShort) {
  Digest digest(3);
  digest.add(sized(1, 1_MiB, 1s, 0s));
  EXPECT_EQ(run_text({}, digest, {.colour = Colour::ansi}),
            "plimsoll: \x1b[32m1 of 1 jobs succeeded\x1b[0m\n");
}

}  // namespace
}  // namespace plimsoll::record

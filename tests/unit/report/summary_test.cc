#include "report/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/plain.h"
#include "reports.h"

namespace plimsoll::report {
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
  report.number = number;
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
            "plimsoll: reached its limit of 2 GiB\n"
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
            "plimsoll: was skipped: not started: the run was interrupted\n");
}

TEST(JobSummary, SaysOnceHowTheJobEnded) {
  JobReport report = bare_report();
  report.outcome = policy::Outcome::signalled;
  report.signal = 9;
  report.reason = "was ended by signal KILL";
  EXPECT_EQ(job_summary(report, {}), "plimsoll: was ended by signal KILL\n");
}

TEST(JobSummary, SaysWhyFiguresAreMissingOnlyIfAsked) {
  const std::string text = job_summary(full_report(), {.detail = Detail::verbose});
  EXPECT_THAT(text, EndsWith("  no io.pressure: PSI is off\n  no network: no veth\n"));
}

TEST(JobSummary, IsColouredOnlyIfAsked) {
  EXPECT_THAT(job_summary(full_report(), {}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(job_summary(full_report(), {.colour = Colour::ansi}),
              StartsWith("plimsoll: \x1b[31mreached its limit of 2 GiB\x1b[0m\n"));
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

// Of a step of a build only its parent knows how it has exited.
TEST(TopJobs, NothingBadIsKnownOfAnExitWithoutACode) {
  TopJobs top_jobs(2);
  JobReport report = sized(1, 100_MiB, 3s, 0s);
  report.outcome = policy::Outcome::exited;
  report.exit_code.reset();
  top_jobs.add(report);
  EXPECT_EQ(top_jobs.succeeded(), 1u);
  report.exit_code = 1;
  top_jobs.add(report);
  EXPECT_EQ(top_jobs.succeeded(), 1u);
}

TEST(TopJobs, KeepsTheHeaviestByEachWeight) {
  TopJobs top_jobs(2);
  top_jobs.add(sized(1, 100_MiB, 3s, 0s));
  top_jobs.add(sized(2, 300_MiB, 1s, 2s));
  top_jobs.add(sized(3, 200_MiB, 2s, 0s));
  top_jobs.add(sized(4, 300_MiB, 2s, 0s));
  top_jobs.add(bare_report());
  const auto ids = [&top_jobs](Weight by) {
    std::string text;
    for (const JobFigures& job : top_jobs.heaviest(by)) text += job.id + ' ';
    return text;
  };
  EXPECT_EQ(ids(Weight::memory), "2 4 ");
  EXPECT_EQ(ids(Weight::cpu), "1 3 ");
  EXPECT_EQ(ids(Weight::stall), "2 ");
  EXPECT_EQ(top_jobs.jobs(), 5u);
  EXPECT_EQ(top_jobs.succeeded(), 4u);
  EXPECT_EQ(top_jobs.skipped(), 1u);
}

TEST(HeaviestTable, FitsEveryTerminal) {
  TopJobs top_jobs(3);
  top_jobs.add(sized(1, 1_GiB, 90s, 0s));
  top_jobs.add(sized(2, 12_MiB, 1s, 1500ms));
  EXPECT_EQ(heaviest_table(top_jobs, {.by = Weight::memory}, {.width = 60}),
            "heaviest by memory:\n"
            "    memory     cpu    wall      stall  job\n"
            "  1.00 GiB   1m30s   3m00s          0  1: ..a-file..e-1.c ..\n"
            "  12.0 MiB  1.00 s  2.00 s  1.50 s io  2: ..a-file..e-2.c ..\n");
  EXPECT_EQ(heaviest_table(top_jobs, {.by = Weight::cpu}, {.width = 80}),
            "heaviest by CPU time:\n"
            "    memory     cpu    wall      stall  outcome  job\n"
            "  1.00 GiB   1m30s   3m00s          0  ok       1: ..a-file-with-..g-name-1.c ..\n"
            "  12.0 MiB  1.00 s  2.00 s  1.50 s io  ok       2: ..a-file-with-..g-name-2.c ..\n");
  for (const std::size_t width : {60u, 80u, 120u}) {
    const std::string text = heaviest_table(top_jobs, {.by = Weight::stall}, {.width = width});
    EXPECT_THAT(text, StartsWith("heaviest by stall:\n"));
    EXPECT_LE(widest_line(text), width);
  }
  EXPECT_THAT(heaviest_table(top_jobs, {.by = Weight::memory}, {.width = 120}),
              HasSubstr("-2.c -o object.o\n"));
  EXPECT_EQ(heaviest_table(TopJobs(3), {.by = Weight::memory}, {}), "");
}

TEST(HeaviestTable, LeavesOutWhatIsLight) {
  TopJobs top_jobs(3);
  top_jobs.add(sized(1, 1_GiB, 90s, 0s));
  top_jobs.add(sized(2, 12_MiB, 1s, 0s));
  const std::string text = heaviest_table(top_jobs, {.by = Weight::memory, .from = 13_MiB}, {});
  EXPECT_THAT(text, HasSubstr("name-1.c"));
  EXPECT_THAT(text, Not(HasSubstr("name-2.c")));
  EXPECT_EQ(heaviest_table(top_jobs, {.by = Weight::memory, .from = 2_GiB}, {}), "");
}

TEST(HeaviestTables, AreOneWhereOneSaysItAll) {
  TopJobs all(2), some(1), none(0);
  for (TopJobs* top_jobs : {&all, &some, &none}) {
    top_jobs->add(sized(1, 1_GiB, 1s, 0s));
    top_jobs->add(sized(2, 12_MiB, 90s, 0s));
  }
  EXPECT_THAT(heaviest_tables(all, {}), StartsWith("heaviest by memory:\n"));
  EXPECT_THAT(heaviest_tables(all, {}), Not(HasSubstr("heaviest by CPU time")));
  EXPECT_THAT(heaviest_tables(some, {}), HasSubstr("\nheaviest by CPU time:\n"));
  EXPECT_EQ(heaviest_tables(none, {}), "");
}

TEST(HeaviestTable, ShowsUnknownFiguresAsSuch) {
  TopJobs top_jobs(3);
  JobReport report = bare_report();
  report.outcome = policy::Outcome::timed_out;
  report.usage.emplace();
  report.usage->totals.memory.peak = 1_MiB;
  top_jobs.add(report);
  EXPECT_EQ(heaviest_table(top_jobs, {.by = Weight::memory}, {}),
            "heaviest by memory:\n"
            "    memory  cpu  wall  stall  outcome    job\n"
            "  1.00 MiB    -     -      -  timed_out  7: make all\n");
}

TEST(RunText, ListsTheFailedOnes) {
  TopJobs top_jobs(3);
  top_jobs.add(sized(1, 1_MiB, 1s, 0s));
  JobReport failed = sized(2, 1_MiB, 1s, 0s);
  failed.exit_code = 2;
  top_jobs.add(failed);
  JobReport lost = sized(3, 1_MiB, 1s, 0s);
  lost.outcome = policy::Outcome::timed_out;
  lost.reason = "timed out after 10 s";
  lost.command = std::string();
  top_jobs.add(lost);
  top_jobs.add(bare_report());
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
  EXPECT_EQ(run_text(summary, top_jobs, {.detail = Detail::verbose}),
            "plimsoll: 1 of 4 jobs succeeded in 1m05s\n"
            "  outcomes     ok 1, failed 1, timed_out 1, skipped 1\n"
            "  cpu          used 12.0 s\n"
            "  memory       used peak 6.00 GiB of 8.00 GiB (75 %), kernel kills 1\n"
            "  governor     holds 3\n"
            "failed:\n"
            "  2: exited with code 2 [cc -c a-file-with-a-long-name-2.c -o object.o]\n"
            "  3: timed out after 10 s\n"
            "  estimates    50 % of jobs needed more than estimated (0 % much more),\n"
            "               25 % of reserved memory was not used\n"
            "  no machine: no /proc\n");
}

TEST(RunText, IsBounded) {
  TopJobs top_jobs(3);
  for (unsigned i = 1; i <= kFailedListedMax + 5; ++i) {
    JobReport failed = sized(i, 1_MiB, 1s, 0s);
    failed.exit_code = 1;
    top_jobs.add(failed);
  }
  for (const std::size_t width : {60u, 80u, 120u}) {
    const std::string text = run_text({}, top_jobs, {.width = width});
    EXPECT_THAT(text, EndsWith("  and 5 more; `plimsoll explain last --failed` lists them\n"));
    EXPECT_LE(widest_line(text), width);
  }
}

TEST(RunText, ListsTheFailedOnesInTheOrderOfInput) {
  TopJobs top_jobs(3);
  for (const unsigned number : {30u, 7u, 12u}) {
    JobReport failed = sized(number, 1_MiB, 1s, 0s);
    failed.exit_code = 1;
    top_jobs.add(failed);
  }
  const std::string text = run_text({}, top_jobs, {});
  EXPECT_LT(text.find("\n  7: "), text.find("\n  12: "));
  EXPECT_LT(text.find("\n  12: "), text.find("\n  30: "));
}

TEST(RunText, KeepsReasonAndCommand) {
  TopJobs top_jobs(3);
  for (const unsigned number : {1u, 2u}) {
    JobReport failed = sized(number, 1_MiB, 1s, 0s);
    failed.outcome = policy::Outcome::over_limit;
    failed.reason = "needed more than its memory limit of 50.0 MiB (peak 50.0 MiB)";
    top_jobs.add(failed);
  }
  EXPECT_THAT(run_text({}, top_jobs, {}),
              EndsWith("failed:\n"
                       "  1: needed more than its memory limit of 50.0 MiB (peak 50.0 MiB)\n"
                       "      cc -c a-file-with-a-long-name-1.c -o object.o\n"
                       "  2: needed more than its memory limit of 50.0 MiB (peak 50.0 MiB)\n"
                       "      cc -c a-file-with-a-long-name-2.c -o object.o\n"));
  EXPECT_THAT(run_text({}, top_jobs, {.width = 4096}),
              HasSubstr("(peak 50.0 MiB) [cc -c a-file-with-a-long-name-2.c -o object.o]\n"));
}

TEST(RunText, DoesNotListWhatWasCancelled) {
  TopJobs top_jobs(3);
  JobReport cancelled = sized(1, 1_MiB, 1s, 0s);
  cancelled.outcome = policy::Outcome::cancelled;
  cancelled.exit_code.reset();
  top_jobs.add(cancelled);
  RunSummary summary;
  summary.outcomes = {{policy::Outcome::cancelled, 1}};
  EXPECT_EQ(run_text(summary, top_jobs, {}),
            "plimsoll: 0 of 1 jobs succeeded\n  outcomes     cancelled 1\n");
}

TEST(RunText, TellsWhatOtherProgramsUsed) {
  TopJobs top_jobs(3);
  RunSummary summary;
  summary.cpu_usage = 2s;
  summary.cores_of_others = 1.94;
  EXPECT_THAT(run_text(summary, top_jobs, {}), ::testing::Not(::testing::HasSubstr("other")));
  summary.cores_of_machine = 2;
  EXPECT_THAT(
      run_text(summary, top_jobs, {}),
      ::testing::HasSubstr("  cpu          used 2.00 s, other programs used 1.9 of 2 cores\n"));
  summary.cores_of_others = 0.1;
  EXPECT_THAT(run_text(summary, top_jobs, {}), ::testing::Not(::testing::HasSubstr("other")));
}

TEST(RunText, OfAGoodRunIsShort) {
  TopJobs top_jobs(3);
  top_jobs.add(sized(1, 1_MiB, 1s, 0s));
  EXPECT_EQ(run_text({}, top_jobs, {.colour = Colour::ansi}),
            "plimsoll: \x1b[32m1 of 1 jobs succeeded\x1b[0m\n");
}

}  // namespace
}  // namespace plimsoll::report

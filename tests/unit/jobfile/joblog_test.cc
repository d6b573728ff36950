#include "jobfile/joblog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "jobfile/resume.h"

namespace plimsoll::jobfile {
namespace {

using namespace std::chrono_literals;
using policy::Outcome;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kHeader =
    "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n";

// As GNU parallel 20221122 has written it.
constexpr std::string_view kLines =
    "1\t:\t1795235278.799\t     0.000\t0\t0\t0\t0\ttrue\n"
    "3\t:\t1795235278.805\t     0.000\t0\t4\t0\t0\techo \"a\tb\"\n"
    "4\t:\t1795235278.808\t     0.000\t0\t0\t0\t9\tkill -9 $$\n"
    "1\t:\t1795235278.971\t     1.088\t0\t0\t-1\t15\tsleep 5\n";

std::string log(std::string_view lines) { return std::string(kHeader) + std::string(lines); }

// In pieces of a length that cuts lines.
Result<std::vector<JoblogEntry>> parse_joblog(std::string_view text, std::size_t piece = 7) {
  std::vector<JoblogEntry> entries;
  JoblogParser parser("log");
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    auto added = parser.add(text.substr(0, piece));
    if (!added) return pass(std::move(added));
    for (JoblogEntry& entry : *added) entries.push_back(std::move(entry));
  }
  if (auto ended = parser.end(); !ended) return pass(std::move(ended));
  return entries;
}

std::string error_of(std::string_view text) {
  const auto entries = parse_joblog(text);
  return entries ? "no error" : entries.error().message();
}

TEST(Joblog, IsWrittenAsGnuParallelWritesIt) {
  const auto entries = parse_joblog(log(kLines));
  ASSERT_TRUE(entries);
  std::string text = joblog_header();
  for (const JoblogEntry& entry : *entries) text += joblog_line(entry);
  EXPECT_EQ(text, log(kLines));
}

TEST(Joblog, IsRead) {
  const auto entries = *parse_joblog(log(kLines));
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries[1].sequence, 3U);
  EXPECT_EQ(entries[1].received, 4U);
  EXPECT_EQ(entries[1].command, "echo \"a\tb\"");
  EXPECT_EQ(entries[2].signal, 9);
  EXPECT_EQ(entries[3].exit_value, -1);
  EXPECT_EQ(entries[3].runtime, 1088ms);
  EXPECT_EQ(entries[3].started, WallTime(1795235278971ms));
}

TEST(Joblog, HasANulForANewline) {
  const std::string line("1\t:\t0.000\t     0.000\t0\t0\t0\t0\techo a\0echo b\n", 43);
  const auto entries = parse_joblog(log(line));
  EXPECT_EQ(entries->front().command, "echo a\necho b");
  EXPECT_EQ(joblog_line(entries->front()), line);
}

TEST(Joblog, MayBeEmptyOrCutOff) {
  EXPECT_THAT(*parse_joblog(""), IsEmpty());
  EXPECT_THAT(*parse_joblog("Seq\tHo"), IsEmpty());
  EXPECT_THAT(*parse_joblog(kHeader), IsEmpty());
  EXPECT_EQ(parse_joblog(log(kLines.substr(0, kLines.size() - 1)))->size(), 3U);
}

TEST(Joblog, KnowsWhereItsWholeLinesEnd) {
  const std::string whole = log(kLines);
  for (const std::string& tail : {std::string(), std::string("5\t:\t17"), std::string(5000, '\0'),
                                  std::string("5\t:\t17") + std::string(5000, '\0')}) {
    JoblogParser parser("log");
    EXPECT_TRUE(parser.add(whole + tail));
    EXPECT_EQ(parser.whole(), whole.size());
  }
  JoblogParser parser("log");
  EXPECT_TRUE(parser.add("Seq\tHo"));
  EXPECT_EQ(parser.whole(), 0U);
}

TEST(Joblog, KeepsNoEndlessLine) {
  EXPECT_THAT(*parse_joblog(log(std::string(40 << 20, 'x')), 1 << 20), IsEmpty());
  EXPECT_THAT(error_of(log("1\t:\t1\t1\t0\t0\t0\t0\t" + std::string(40 << 20, 'x') + "\n")),
              HasSubstr("log:2: found \""));
}

TEST(Joblog, WithoutALineItIsTheBeginningOfAHeaderOrNone) {
  for (const std::string_view begun : {"", "Seq", "Seq\tHo"}) {
    EXPECT_THAT(*parse_joblog(begun), IsEmpty()) << begun;
    EXPECT_THAT(*parse_joblog(std::string(begun) + std::string(100, '\0')), IsEmpty()) << begun;
  }
  EXPECT_THAT(error_of("{\"my\": \"data\"}"), HasSubstr("log:1: found \"{\"my"));
  EXPECT_THAT(error_of(std::string(20 << 20, '\0')), HasSubstr("log:1: found \"\""));
}

TEST(Joblog, SaysWhereItIsWrong) {
  EXPECT_THAT(error_of("Seq\tHost\n"),
              HasSubstr("log:1: found \"Seq\tHost\", expected the header of a job log, \"Seq"));
  for (const char* bad :
       {"", "x", "0\t:\t1\t1\t0\t0\t0\t0\tc", "1\t:\t1\t1\t0\t0\t0\t0", "1\t:\t1\t1\t0\t0\tx\t0\tc",
        "1\t:\t-1\t1\t0\t0\t0\t0\tc", "1\t:\t1\t1e9\t0\t0\t0\t0\tc", "1\t\t1\t1\t0\t0\t0\t0\tc",
        "1\t:\t1\t1\t0\t0\t99999999999\t0\tc", "1\t:\t1\t99999999999\t0\t0\t0\t0\tc"}) {
    EXPECT_THAT(error_of(log(kLines) + bad + "\n"), HasSubstr("log:6: found \"")) << bad;
  }
}

TEST(Joblog, HasZeroesOnlyForSuccess) {
  const std::pair<policy::AttemptEnd, ExitColumns> table[] = {
      {{.outcome = Outcome::exited, .exit_code = 0}, {0, 0}},
      {{.outcome = Outcome::exited, .exit_code = 3}, {3, 0}},
      {{.outcome = Outcome::signalled, .signal = 9}, {0, 9}},
      {{.outcome = Outcome::timed_out, .signal = 15}, {-1, 15}},
      {{.outcome = Outcome::timed_out, .exit_code = 0}, {-1, 0}},
      {{.outcome = Outcome::over_limit, .signal = 9}, {0, 9}},
      {{.outcome = Outcome::over_limit, .exit_code = 0}, {-1, 0}},
      {{.outcome = Outcome::over_limit, .exit_code = 2}, {2, 0}},
      {{.outcome = Outcome::failed_to_start}, {-1, 0}},
      {{.outcome = Outcome::failed_to_start, .exit_code = 127}, {127, 0}},
      {{.outcome = Outcome::cancelled}, {-1, 0}},
  };
  for (const auto& [end, columns] : table) EXPECT_EQ(exit_columns(end), columns) << describe(end);
}

JoblogEntry any_entry() {
  const auto number = rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 40);
  JoblogEntry entry;
  entry.sequence = *number + 1;
  entry.started = WallTime(std::chrono::milliseconds(*number));
  entry.runtime = std::chrono::milliseconds(*number);
  entry.sent = *number;
  entry.received = *number;
  entry.exit_value = *rc::gen::inRange(-1, 256);
  entry.signal = *rc::gen::inRange(0, 65);
  entry.command = *rc::gen::container<std::string>(rc::gen::nonZero<char>());
  return entry;
}

RC_GTEST_PROP(JoblogProperty, IsReadBack, ()) {
  std::string text = joblog_header();
  std::vector<JoblogEntry> entries;
  for (int i = *rc::gen::inRange(0, 5); i > 0; --i) {
    entries.push_back(any_entry());
    text += joblog_line(entries.back());
  }
  RC_ASSERT(*parse_joblog(text) == entries);
}

policy::JobSpec job(std::uint64_t id, const std::string& command, std::vector<JobId> needs = {}) {
  policy::JobSpec spec;
  spec.id = JobId{id};
  spec.command = command;
  spec.needs = std::move(needs);
  return spec;
}
JoblogEntry entry(std::uint64_t sequence, const std::string& command, int exit_value,
                  int signal = 0) {
  JoblogEntry result;
  result.sequence = sequence;
  result.command = command;
  result.exit_value = exit_value;
  result.signal = signal;
  return result;
}
JobsLeft jobs_left(std::vector<policy::JobSpec> jobs, const std::vector<JoblogEntry>& entries,
                   Resume rule) {
  Remainder remainder(std::move(jobs));
  for (const JoblogEntry& entry : entries) remainder.add(entry);
  return std::move(remainder).left(rule);
}

std::vector<std::string> left(std::vector<policy::JobSpec> jobs,
                              const std::vector<JoblogEntry>& entries, Resume rule) {
  std::vector<std::string> result;
  for (const auto& spec : jobs_left(std::move(jobs), entries, rule).jobs) {
    std::string text = policy::command_line(spec.command);
    for (const JobId need : spec.needs) {
      text += " <" + std::to_string(static_cast<std::uint64_t>(need));
    }
    result.push_back(text);
  }
  return result;
}

TEST(Resume, GoesByNumberAndCommand) {
  const std::vector<policy::JobSpec> jobs = {job(1, "a"), job(2, "b"), job(3, "c"), job(4, "d"),
                                             job(5, "e")};
  const std::vector<JoblogEntry> entries = {entry(1, "a", 0), entry(2, "b", 1),
                                            entry(3, "other", 0), entry(4, "d", 0, 9),
                                            entry(9, "z", 0)};
  EXPECT_THAT(left(jobs, entries, Resume::unfinished), ElementsAre("c", "e"));
  EXPECT_THAT(left(jobs, entries, Resume::unfinished_and_failed), ElementsAre("b", "c", "d", "e"));
  EXPECT_THAT(left(jobs, entries, Resume::failed), ElementsAre("b", "d"));
  EXPECT_THAT(left(jobs, {}, Resume::unfinished), ElementsAre("a", "b", "c", "d", "e"));
}

TEST(Resume, KnowsACommandByItselfIfNoOtherJobHasIt) {
  const std::vector<policy::JobSpec> jobs = {job(1, "new"), job(2, "a"), job(3, "b"), job(4, "b")};
  const std::vector<JoblogEntry> entries = {entry(1, "a", 0), entry(2, "b", 0), entry(3, "b", 1),
                                            entry(4, "gone", 0)};
  EXPECT_THAT(left(jobs, entries, Resume::unfinished), ElementsAre("new", "b"));
  const JobsLeft result = jobs_left(jobs, entries, Resume::unfinished);
  EXPECT_EQ(result.logged, 2u);
  EXPECT_EQ(result.failed, 1u);   // the third, by number and command
  EXPECT_EQ(result.strange, 2u);  // "gone", and the second, whose number is another job's
}

TEST(Resume, TakesTheLastEntry) {
  const std::vector<JoblogEntry> entries = {entry(1, "a", 1), entry(1, "a", 0), entry(2, "b", 0),
                                            entry(2, "b", -1)};
  EXPECT_THAT(left({job(1, "a"), job(2, "b")}, entries, Resume::failed), ElementsAre("b"));
}

TEST(Resume, KnowsACommandWhoseSlotIsOpen) {
  const std::string command = std::string("gpu ") + policy::kSlotMark;
  EXPECT_THAT(left({job(1, command)}, {entry(1, "gpu {%}", 0)}, Resume::unfinished), IsEmpty());
}

TEST(Resume, RunsWhatIsNeededAndHasNotSucceeded) {
  const std::vector<policy::JobSpec> jobs = {job(1, "a"), job(2, "b", {JobId{1}}),
                                             job(3, "c", {JobId{1}, JobId{2}})};
  const std::vector<JoblogEntry> entries = {entry(1, "a", 0), entry(2, "b", 1)};
  EXPECT_THAT(left(jobs, entries, Resume::unfinished), ElementsAre("b", "c <2"));
}

}  // namespace
}  // namespace plimsoll::jobfile

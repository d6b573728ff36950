#include "jobfile/job_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobfile/format.h"
#include "jobfile/limits.h"

namespace plimsoll::jobfile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> commands(std::string_view text, Separator separator = Separator::newline) {
  const auto jobs = parse_text_jobs(text, "jobs.txt", separator, {});
  EXPECT_TRUE(jobs) << (jobs ? "" : jobs.error().message());
  std::vector<std::string> result;
  for (const auto& job : *jobs) result.push_back(policy::command_line(job.command));
  return result;
}

std::string error_of(std::string_view text) {
  const auto jobs = parse_text_jobs(text, "jobs.txt", Separator::newline, {});
  return jobs ? "no error" : jobs.error().message();
}

TEST(TextFile, HasACommandALine) {
  EXPECT_THAT(commands("make a\nmake b\n"), ElementsAre("make a", "make b"));
  EXPECT_THAT(commands("make a\nmake b"), ElementsAre("make a", "make b"));
  EXPECT_THAT(commands(""), ElementsAre());
}

TEST(TextFile, PassesOverCommentsAndBlankLines) {
  EXPECT_THAT(commands("# first\n\n  \t\n  # second\necho '#' # kept\n"),
              ElementsAre("echo '#' # kept"));
}

TEST(TextFile, ToleratesCarriageReturns) {
  EXPECT_THAT(commands("a\r\n\r\n# c\r\nb\r\n"), ElementsAre("a", "b"));
}

TEST(TextFile, DoesNotJoinLines) {
  EXPECT_THAT(commands("echo \\\nb\n"), ElementsAre("echo \\", "b"));
}

TEST(TextFile, TakesNulSeparatedCommandsAsTheyStand) {
  const std::string_view text("# a\nb\0\0 c \0", 11);
  EXPECT_THAT(commands(text, Separator::nul), ElementsAre("# a\nb", " c "));
}

TEST(TextFile, NumbersJobsAndTakesDefaults) {
  policy::JobSpec defaults;
  defaults.job_class = "c";
  const auto jobs = parse_text_jobs("#\na\n\nb\n", "f", Separator::newline, defaults);
  ASSERT_EQ(jobs->size(), 2U);
  EXPECT_EQ((*jobs)[1].id, JobId{2});
  EXPECT_EQ((*jobs)[1].name, "2");
  EXPECT_EQ((*jobs)[1].job_class, "c");
  EXPECT_TRUE(std::holds_alternative<std::string>((*jobs)[1].command));
}

TEST(TextFile, RefusesNulWithLineAndColumn) {
  EXPECT_EQ(error_of(std::string_view("a\nb\0c\n", 6)),
            "jobs.txt:2: found a NUL byte in column 2, expected text (-0 reads NUL-separated "
            "input)");
}

TEST(TextFile, RefusesACommandBeyondOneWordOfTheKernel) {
  const std::string longest(kWordBytesMax, 'x');
  EXPECT_EQ(commands(longest).size(), 1U);
  EXPECT_EQ(error_of("a\n\n" + longest + "x"),
            "jobs.txt:3: found a shell command of 131072 bytes, expected at most 131071, the "
            "kernel's limit for one argument (MAX_ARG_STRLEN)");
}

TEST(DetectFormat, LooksAtTheFirstLineThatIsNeitherBlankNorAComment) {
  const std::pair<const char*, Format> table[] = {
      {"", Format::text},
      {"\n\n", Format::text},
      {"make\n{\"shell\": \"x\"}", Format::text},
      {"# {\"shell\": \"x\"}", Format::text},
      {"{ echo a; }", Format::text},
      {"{ \"a b\" c; }", Format::text},
      {"{a,b}", Format::text},
      {"[1]", Format::text},
      {"\n \n  {\"shell\": \"x\"}\n", Format::jsonl},
      {"{ \"shell\": \"x\" }\r\n", Format::jsonl},
      {"{}", Format::jsonl},
      {"# jobs\n{\"shell\": \"x\"}\n", Format::jsonl},  // JSON has no comments, which is told
      {"{\"argv\" [\"rm\"]}", Format::jsonl},  // meant as JSON: the error is better than running it
  };
  for (const auto& [text, format] : table) EXPECT_EQ(detect_format(text), format) << text;
}

TEST(DetectFormat, IsTakenFromTheOption) {
  EXPECT_EQ(*parse_format("text"), Format::text);
  EXPECT_EQ(*parse_format("jsonl"), Format::jsonl);
  EXPECT_EQ(parse_format("json").error().message(), "found \"json\", expected text or jsonl");
}

}  // namespace
}  // namespace plimsoll::jobfile

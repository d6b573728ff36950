#include "jobfile/input.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "jobfile/limits.h"

namespace plimsoll::jobfile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Words = std::vector<std::string>;

// A directory of its own for each test, and something to be standard input.
class ReadJobs : public testing::Test {
 protected:
  ReadJobs() {
    std::string name = testing::TempDir() + "plimsoll-jobs-XXXXXX";
    directory_ = ::mkdtemp(name.data());
  }
  ~ReadJobs() override { std::filesystem::remove_all(directory_); }

  std::string file(const std::string& name, const std::string& text) {
    const std::string path = directory_ + "/" + name;
    const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    EXPECT_TRUE(write_text(fd.get(), text));
    return path;
  }

  // The command lines of all jobs.
  Words commands(InputOptions options, const std::string& standard_input = "") {
    const auto jobs = read(std::move(options), standard_input);
    EXPECT_TRUE(jobs) << (jobs ? "" : jobs.error().message());
    Words lines;
    if (!jobs) return {"error"};
    for (const auto& job : jobs->jobs) lines.push_back(policy::command_line(job.command));
    return lines;
  }
  std::string error_of(InputOptions options, const std::string& standard_input = "") {
    const auto jobs = read(std::move(options), standard_input);
    return jobs ? "no error" : jobs.error().message();
  }

  Words warnings_of(InputOptions options, const std::string& standard_input = "") {
    const auto input = read(std::move(options), standard_input);
    EXPECT_TRUE(input);
    return input ? input->warnings : Words{"error"};
  }

  std::string directory_;

 private:
  static Result<Input> read(InputOptions options, const std::string& standard_input) {
    const UniqueFd fd(::memfd_create("stdin", MFD_CLOEXEC));
    EXPECT_TRUE(write_text(fd.get(), standard_input));
    ::lseek(fd.get(), 0, SEEK_SET);
    options.standard_input = fd.get();
    return read_jobs(options);
  }
};

TEST_F(ReadJobs, ReadsAJobFileOfEitherFormat) {
  EXPECT_THAT(commands({.file = file("t", "make a\n# no\nmake b\n")}),
              ElementsAre("make a", "make b"));
  EXPECT_THAT(commands({.file = file("j", "\n{\"argv\": [\"a\", \"b c\"]}\n")}),
              ElementsAre("a 'b c'"));
}

TEST_F(ReadJobs, ReadsTheFormatThatIsSaid) {
  EXPECT_THAT(commands({.file = file("j", "{\"shell\": \"a\"}"), .format = Format::text}),
              ElementsAre("{\"shell\": \"a\"}"));
  EXPECT_THAT(error_of({.file = file("t", "make"), .format = Format::jsonl}),
              HasSubstr("/t:1: found broken JSON"));
}

TEST_F(ReadJobs, RefusesJsonThatIsNotLines) {
  for (const char* array : {"[", "\n [{\"shell\": \"true\"}]", "[ {", "[\"a\",", "[\r\n{}]"}) {
    EXPECT_THAT(error_of({}, array),
                HasSubstr("expected one JSON object per line, which `jq -c '.[]'`"))
        << array;
  }
  EXPECT_EQ(
      error_of({}, "{\n  \"shell\": \"true\"\n}\n"),
      "standard input:1: found \"{\", expected one JSON object per line, which `jq -c .` makes");
  EXPECT_THAT(error_of({.format = Format::jsonl}, "[\n"), HasSubstr("jq -c '.[]'"));
  EXPECT_THAT(commands({}, "[ -e x ] && rm x\n"), ElementsAre("[ -e x ] && rm x"));
  EXPECT_THAT(commands({}, "{ a; b; }\n"), ElementsAre("{ a; b; }"));
  EXPECT_THAT(commands({.format = Format::text}, "[\n"), ElementsAre("["));
}

TEST_F(ReadJobs, RefusesFilesOfOtherPrograms) {
  for (const char* yaml : {"---\n", "# a\n\njobs:\n  - cmd: x\n", "- name: x\n", "on: push\n"}) {
    EXPECT_THAT(error_of({}, yaml), HasSubstr("found YAML, expected one shell command or one JSON "
                                              "object per line (--format text runs each line"))
        << yaml;
  }
  EXPECT_THAT(error_of({}, "# a\n\njobs:\n"), HasSubstr("standard input:3: "));
  for (const char* ninja :
       {"ninja_required_version = 1.3\n", "rule cc\n  command = cc\n",
        "# a\ninclude CMakeFiles/rules.ninja\n", "subninja sub/build.ninja\n"}) {
    EXPECT_THAT(error_of({}, ninja), HasSubstr("found a build file of ninja"));
  }
  for (const char* markup : {"<!DOCTYPE html>\n", "<?xml version='1.0'?>\n", "<html>\n",
                             "<svg xmlns=\"http://www.w3.org/2000/svg\"\n"}) {
    EXPECT_THAT(error_of({}, markup), HasSubstr("found HTML or XML")) << markup;
  }
  EXPECT_THAT(error_of({.file = file("build.ninja", "include x\n")}), HasSubstr("of ninja"));
  EXPECT_THAT(error_of({.file = file("Makefile", "-include x\n")}), HasSubstr("a makefile"));
  EXPECT_THAT(error_of({.file = file("CMakeLists.txt", "project(x)\n")}), HasSubstr("CMake"));
}

TEST_F(ReadJobs, TakesCommandsThatOnlyLookForeign) {
  for (const char* command : {": > a", "<in sort >out", "a:b c", "rules x", "-v: x", "x --- y",
                              "include rules", "make\tall", "gzip\t-k\tx"}) {
    EXPECT_THAT(commands({}, command), ElementsAre(command));
  }
  EXPECT_THAT(commands({.format = Format::text}, "jobs:\n"), ElementsAre("jobs:"));
}

TEST_F(ReadJobs, RefusesTables) {
  for (const char* table : {"name\tsize\na.png\t12\n", "# of today\nid\tfirst name\tage\n1\tx\t3\n",
                            "name\tsize\r\na.png\t12\r\n"}) {
    EXPECT_THAT(error_of({}, table), HasSubstr("found a table, expected one shell command or one "
                                               "JSON object per line (-a FILE --colsep REGEX"))
        << table;
  }
  for (const char* name : {"jobs.tsv", "jobs.csv"}) {
    EXPECT_THAT(error_of({.file = file(name, "make x\n")}), HasSubstr("found a table")) << name;
  }
}

TEST_F(ReadJobs, TakesCommandsWithTabs) {
  EXPECT_THAT(commands({}, "gzip\ta\ngzip\tb\n"), ElementsAre("gzip\ta", "gzip\tb"));
  EXPECT_THAT(commands({}, "make\tall\nmake install\n"), ElementsAre("make\tall", "make install"));
  EXPECT_THAT(commands({}, "./run\ta\nsort\tb\n"), ElementsAre("./run\ta", "sort\tb"));
  EXPECT_THAT(commands({.format = Format::text}, "name\tsize\na\t1\n"), testing::SizeIs(2));
}

TEST_F(ReadJobs, PassesOverAByteOrderMark) {
  EXPECT_THAT(commands({}, "\xEF\xBB\xBFmake a\n"), ElementsAre("make a"));
  EXPECT_THAT(commands({}, "\xEF\xBB\xBF{\"argv\": [\"a\"]}\n"), ElementsAre("a"));
  EXPECT_THAT(commands({.words = Words{"wc"}}, "\xEF\xBB\xBFx\n"), ElementsAre("wc x"));
}

TEST_F(ReadJobs, WarnsOfLinesThatWereMeantToGoOn) {
  EXPECT_THAT(warnings_of({}, "make a\ncc \\\n  -c x.c\n"),
              ElementsAre(HasSubstr("standard input:2: the line ends in a backslash")));
  EXPECT_THAT(warnings_of({}, "a \\\r\nb \\\nc\n"), ElementsAre(HasSubstr("(2 lines end so)")));
  EXPECT_THAT(warnings_of({}, "# a \\\nb\n"), IsEmpty());
  EXPECT_THAT(warnings_of({.separator = Separator::nul}, std::string("a \\\0", 4)), IsEmpty());
}

TEST_F(ReadJobs, WarnsOfQuotesAroundAValueThatIsQuoted) {
  const auto warnings = [this](const char* text, const char* value) {
    return warnings_of({.words = Words{text, ":::", "plain", value, value}});
  };
  for (const char* text : {"echo '{}'", "echo \"{}\"", "gzip 'out/{.}.gz'", "a \\'b '{1}'"}) {
    EXPECT_THAT(warnings(text, "a b"), ElementsAre(HasSubstr("job 2: the template has quotes")))
        << text;
    EXPECT_THAT(warnings(text, "b"), IsEmpty()) << text;
  }
  for (const char* text : {"echo {}", "sh -c 'echo {}'", "echo 'a' {} 'b'", "echo \\'{}\\'",
                           "echo \"it's\" {} \"it's\"", "echo '{#}'"}) {
    EXPECT_THAT(warnings(text, "a b"), IsEmpty()) << text;
  }
  EXPECT_THAT(warnings_of({.words = Words{"echo", "'{}'", ":::", "a b"}}), IsEmpty());
}

TEST_F(ReadJobs, KnowsWhetherItReadsStandardInput) {
  EXPECT_TRUE(reads_standard_input({}));
  EXPECT_TRUE(reads_standard_input({.file = "-"}));
  EXPECT_TRUE(reads_standard_input({.words = Words{"echo"}}));
  EXPECT_TRUE(reads_standard_input({.words = Words{"echo", ":::", "a", "::::", "-"}}));
  EXPECT_FALSE(reads_standard_input({.file = "jobs.txt"}));
  EXPECT_FALSE(reads_standard_input({.words = Words{"echo", ":::", "-"}}));
  EXPECT_FALSE(reads_standard_input({.words = Words{"echo"}, .argument_files = {"list"}}));
}

TEST_F(ReadJobs, ReadsStandardInput) {
  EXPECT_THAT(commands({}, "a\nb\n"), ElementsAre("a", "b"));
  EXPECT_THAT(commands({.file = "-"}, "a\nb\n"), ElementsAre("a", "b"));
  EXPECT_THAT(error_of({}, std::string("a\0", 2)), HasSubstr("standard input:1: found a NUL"));
  EXPECT_THAT(commands({.separator = Separator::nul}, std::string("{\"a\n\0b", 6)),
              ElementsAre("{\"a\n", "b"));
}

TEST_F(ReadJobs, ReadsTheLinesOfStandardInputAsValues) {
  EXPECT_THAT(commands({.words = Words{"echo"}}, "a b\n\n# c\n"),
              ElementsAre("echo a\\ b", "echo ''", "echo \\#\\ c"));
  EXPECT_THAT(commands({.words = Words{}}, "echo a\necho b\n"), ElementsAre("echo a", "echo b"));
}

// The lines are what `parallel --dry-run -k` (20221122) prints.
TEST_F(ReadJobs, FillsTemplatesFromSources) {
  const std::string f = file("f", "1\n2\n");
  const std::string g = file("g", "A\nB\n");
  const std::string c = file("c", "a,b\nc,d,e\n  f , g \n");
  EXPECT_THAT(commands({.words = Words{"echo", "::::", f, g}}),
              ElementsAre("echo 1 A", "echo 1 B", "echo 2 A", "echo 2 B"));
  EXPECT_THAT(commands({.words = Words{"echo", "::::", f, "::::+", g}}),
              ElementsAre("echo 1 A", "echo 2 B"));
  EXPECT_THAT(commands({.words = Words{"echo", ":::", "a", "b", "::::+", f}}),
              ElementsAre("echo a 1", "echo b 2"));
  EXPECT_THAT(commands({.words = Words{"echo", ":::", "X"}, .argument_files = {f}}),
              ElementsAre("echo 1 X", "echo 2 X"));
  EXPECT_THAT(commands({.words = Words{"echo"}, .argument_files = {f, g}}),
              ElementsAre("echo 1 A", "echo 1 B", "echo 2 A", "echo 2 B"));
  EXPECT_THAT(commands({.words = Words{"echo {1}-{2}-{3}-{}", "::::", c}, .colsep = ","}),
              ElementsAre("echo a-b--a b", "echo c-d-e-c d e", "echo f-g--f g"));
  EXPECT_THAT(
      commands({.words = Words{"echo {1}-{2}-{3}-{4}", ":::", "a,b", ":::", "c,d"}, .colsep = ","}),
      ElementsAre("echo a-b-c-d"));
  EXPECT_THAT(commands({.words = Words{":::", "echo", "printf", ":::", "a", "b"}}),
              ElementsAre("echo a", "echo b", "printf a", "printf b"));
  EXPECT_THAT(commands({.words = Words{"echo {#}", ":::", "a", "b"}}),
              ElementsAre("echo 1", "echo 2"));
  EXPECT_THAT(commands({.words = Words{"echo", ":::"}}), IsEmpty());
}

TEST_F(ReadJobs, TakesSeveralRowsForOneJob) {
  EXPECT_THAT(commands({.words = Words{"echo", ":::", "a", "b", "c"}, .max_args = 2}),
              ElementsAre("echo a b", "echo c"));
  EXPECT_THAT(commands({.words = Words{"echo {1}-{2} {}", ":::", "a", "b", "c"}, .max_args = 2}),
              ElementsAre("echo a-b a b", "echo c- c"));
  EXPECT_THAT(commands({.words = Words{"echo", ":::", "a", "b", ":::", "1", "2"}, .max_args = 2}),
              ElementsAre("echo a 1 a 2", "echo b 1 b 2"));
}

TEST_F(ReadJobs, TakesNulSeparatedValues) {
  const std::string z = file("z", std::string("a\nb\0c\0", 6));
  EXPECT_THAT(commands({.words = Words{"echo", "::::", z}, .separator = Separator::nul}),
              ElementsAre("echo a'\n'b", "echo c"));
}

TEST_F(ReadJobs, GivesJobsTheirValuesAndDefaults) {
  InputOptions options{.words = Words{"cp", "{1}", "{2}", ":::", "a b", ":::", "c"}};
  options.defaults.retries = 2;
  const auto input = read_jobs(options);
  ASSERT_TRUE(input);
  const auto* jobs = &input->jobs;
  ASSERT_EQ(jobs->size(), 1U);
  EXPECT_EQ(jobs->front().id, JobId{1});
  EXPECT_EQ(jobs->front().name, "1");
  EXPECT_EQ(jobs->front().retries, 2U);
  EXPECT_THAT(jobs->front().arguments, ElementsAre("a b", "c"));
  EXPECT_EQ(std::get<plimsoll::Words>(jobs->front().command).all(), (Words{"cp", "a b", "c"}));
}

TEST_F(ReadJobs, NamesAFileThatItCannotRead) {
  EXPECT_EQ(error_of({.file = "/nowhere/jobs"}), "open /nowhere/jobs: No such file or directory");
  EXPECT_EQ(error_of({.words = Words{"echo", "::::", "/nowhere/args"}}),
            "open /nowhere/args: No such file or directory");
  EXPECT_EQ(error_of({.file = directory_}), "read " + directory_ + ": Is a directory");
}

TEST_F(ReadJobs, NamesTheLineThatIsTooLong) {
  const std::string longest(kWordBytesMax, 'x');
  EXPECT_THAT(error_of({.words = Words{"echo", "::::", file("f", "a\n" + longest + "x\n")}}),
              HasSubstr("/f:2: found a line of 131072 bytes, expected at most 131071"));
  EXPECT_THAT(error_of({.words = Words{"echo", "{}"}}, "a\n" + longest + "\n"), "no error");
  EXPECT_THAT(error_of({.words = Words{"echo {}"}}, "a\n" + longest + "\n"),
              HasSubstr("job 2: found a shell command of 131076 bytes"));
  EXPECT_THAT(error_of({.words = Words{"echo", ":::", "a", longest + "x"}, .colsep = ","}),
              HasSubstr("value 2 of :::: found a line of 131072 bytes"));
  EXPECT_THAT(
      commands({.words = Words{"echo", "{1}", ":::", "b," + longest.substr(2)}, .colsep = ","}),
      ElementsAre("echo b"));
}

TEST_F(ReadJobs, RefusesMoreJobsThanARunMayHave) {
  Words words = {"echo"};
  for (int source = 0; source < 8; ++source) {
    words.emplace_back(":::");
    words.insert(words.end(), 10, "x");
  }
  EXPECT_EQ(error_of({.words = words}),
            "the sources: found 100000000 jobs, expected at most 10000000");
}

TEST_F(ReadJobs, RefusesOptionsThatContradictEachOther) {
  EXPECT_THAT(error_of({.file = "f", .words = Words{"echo"}}),
              HasSubstr("found the job file f and a command after --"));
  EXPECT_THAT(error_of({.format = Format::text, .words = Words{"echo"}}), HasSubstr("--format"));
  EXPECT_THAT(error_of({.format = Format::jsonl, .separator = Separator::nul}), HasSubstr("-0"));
  EXPECT_THAT(error_of({.argument_files = {"f"}}), HasSubstr("found no command"));
  EXPECT_THAT(error_of({.words = Words{"echo"}, .colsep = "["}), HasSubstr("--colsep"));
  EXPECT_THAT(error_of({.words = Words{"echo"}, .max_args = 0}), HasSubstr("--max-args: found 0"));
  EXPECT_THAT(error_of({.words = Words{"echo", "::::", "-", "-"}}), HasSubstr("standard input"));
}

TEST_F(ReadJobs, AHeaderNamesTheColumns) {
  EXPECT_THAT(commands({.words = Words{"echo", "{m}", "{n}"}, .colsep = ",", .header = true},
                       "n,m\n1,2\n3,4\n"),
              ElementsAre("echo 2 1", "echo 4 3"));
  EXPECT_THAT(commands({.words = Words{"echo", "{b}{a}", ":::", "a", "1", "2", ":::", "b", "x"},
                        .header = true}),
              ElementsAre("echo x1", "echo x2"));
  EXPECT_EQ(error_of({.words = Words{"echo", "{a}"}, .header = true}),
            "--header: found an empty source, expected its first line to name its columns");
}

TEST_F(ReadJobs, ColumnsOfAHeaderHaveDifferentNames) {
  EXPECT_EQ(
      error_of({.words = Words{"echo", "{a}"}, .colsep = ",", .header = true}, "a,b,a\n1,2,3\n"),
      "standard input:1: --header: found two columns named \"a\", expected a different name "
      "for each column");
  EXPECT_THAT(error_of({.words = Words{"echo", ":::", "a", "1", ":::", "a", "2"}, .header = true}),
              HasSubstr("value 1 of :::: --header: found two columns named \"a\""));
  EXPECT_THAT(
      commands({.words = Words{"echo", "{a}"}, .colsep = ",", .header = true}, "a,,\n1,2,3\n"),
      ElementsAre("echo 1"))
      << "columns without a name";
}

TEST_F(ReadJobs, ARowHasTheColumnsOfItsHeader) {
  const InputOptions options{.words = Words{"echo", "{b}"}, .colsep = ",", .header = true};
  EXPECT_EQ(error_of(options, "a,b\n1,2\n3\n"),
            "standard input:3: found 1 column, expected 2, as in the header");
  EXPECT_EQ(error_of(options, "a,b\n1,2,3\n"),
            "standard input:2: found 3 columns, expected 2, as in the header");
  EXPECT_THAT(commands({.words = Words{"echo", "{2}"}, .colsep = ","}, "1,2\n3\n"),
              ElementsAre("echo 2", "echo ''"))
      << "without a header";
}

TEST_F(ReadJobs, ANameThatNoColumnHasIsRefused) {
  const auto error = [this](const char* word) {
    return error_of({.words = Words{"echo", word}, .colsep = ",", .header = true},
                    "name,rate\na,1\n");
  };
  EXPECT_EQ(error("{nam}"),
            "the command: found \"{nam}\", expected a column of --header, {name} {rate} (text in "
            "braces needs a blank: \"{ nam}\")");
  EXPECT_THAT(error("{name} {Rate.}"), HasSubstr("found \"{Rate.}\""));
  EXPECT_THAT(error("{{x_1//}}"), HasSubstr("found \"{x_1//}\""));
  const Words text = {"echo", "${HOME} { print} {a,b} {\"x\":1} {name {#} {%} {/.} {-1}"};
  EXPECT_EQ(error_of({.words = text, .colsep = ",", .header = true}, "name,rate\na,1\n"),
            "no error");
  EXPECT_THAT(commands({.words = Words{"echo", "{nam}"}}, "1\n"), ElementsAre("echo '{nam}' 1"))
      << "without a header";
}

TEST_F(ReadJobs, AnotherWordForTheValuesNeedsACommand) {
  EXPECT_THAT(commands({.words = Words{"echo", "X", "{}", ":::", "1"}, .replaced = "X"}),
              ElementsAre("echo 1 '{}'"));
  EXPECT_EQ(error_of({.words = Words{"echo", ":::", "1"}, .replaced = ""}),
            "-I: found an empty text, expected a replacement string such as {}");
  EXPECT_THAT(error_of({.replaced = "X"}), HasSubstr("expected one after --"));
  EXPECT_THAT(error_of({.header = true}), HasSubstr("expected one after --"));
}

}  // namespace
}  // namespace plimsoll::jobfile

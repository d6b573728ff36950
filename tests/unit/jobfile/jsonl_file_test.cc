#include "jobfile/job_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "jobfile/limits.h"

namespace plimsoll::jobfile {
namespace {

using namespace literals;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

std::vector<policy::JobSpec> good(std::string_view text, const policy::JobSpec& defaults = {}) {
  auto jobs = parse_jsonl_jobs(text, "jobs.jsonl", defaults);
  EXPECT_TRUE(jobs) << (jobs ? "" : jobs.error().message());
  return jobs ? *jobs : std::vector<policy::JobSpec>(9);
}

std::string error_of(std::string_view text) {
  const auto jobs = parse_jsonl_jobs(text, "jobs.jsonl", {});
  return jobs ? "no error" : jobs.error().message();
}

constexpr std::string_view kEveryKey =
    R"({"id": "link", "argv": ["ld", ""], "cwd": "/src", "env": {"A": "1", "B": ""}, )"
    R"("class": "link", "cap": 3, "memory_hint": "1.5G", "memory_max": 4096, "memory_high": "1M", )"
    R"("swap_max": 0, "cpus": 1.5, "cpuset": "0-3,7", "weight": 200, "io_weight": 50, )"
    R"("pids_max": 10, "cpu_hint": 2, "disk_hint": "3G", "priority": -3, )"
    R"("timeout": "5m", "retries": 2, )"
    R"("restartable": false, "stdout": "o", "stderr": "e", "uid": "nobody", "needs": []})";

TEST(JsonlFile, TakesEveryKey) {
  const auto jobs = good(kEveryKey);
  ASSERT_EQ(jobs.size(), 1U);
  const policy::JobSpec& job = jobs.front();
  EXPECT_EQ(job.id, JobId{1});
  EXPECT_EQ(job.name, "link");
  EXPECT_EQ(std::get<0>(job.command), (std::vector<std::string>{"ld", ""}));
  EXPECT_EQ(job.cwd, "/src");
  EXPECT_THAT(job.env, ElementsAre(Pair("A", "1"), Pair("B", "")));
  EXPECT_EQ(job.job_class, "link");
  EXPECT_EQ(job.memory_hint, 1536_MiB);
  EXPECT_EQ(job.limits, (Limits{.memory_max = 4_KiB,
                                .memory_high = 1_MiB,
                                .swap_max = 0_KiB,
                                .cpus = 1.5,
                                .cpuset = "0-3,7",
                                .cpu_weight = 200,
                                .io_weight = 50,
                                .weight = {},
                                .io_max = {},
                                .pids_max = 10}));
  EXPECT_EQ(job.cap, 3U);
  EXPECT_EQ(job.cpu_hint, 2.0);
  EXPECT_EQ(job.disk_hint, 3_GiB);
  EXPECT_EQ(job.priority, -3);
  EXPECT_EQ(job.timeout, 5min);
  EXPECT_EQ(job.retries, 2U);
  EXPECT_FALSE(job.restartable);
  EXPECT_EQ(job.stdout_path, "o");
  EXPECT_EQ(job.stderr_path, "e");
  EXPECT_EQ(job.uid, "nobody");
  EXPECT_THAT(job.needs, IsEmpty());
}

TEST(JsonlFile, TakesNumbersForSizesTimesAndIds) {
  const auto jobs = good(
      "{\"id\": 7, \"shell\": \"a\", \"memory_max\": 1e9, \"timeout\": 1.5, \"uid\": 1000}\r\n\n"
      "{\"shell\": \"b\", \"cpu_weight\": 1, \"needs\": [7, \"7\"]}\n");
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].name, "7");
  EXPECT_EQ(jobs[0].limits.memory_max, (Bytes{1'000'000'000}));
  EXPECT_EQ(jobs[0].timeout, 1500ms);
  EXPECT_EQ(jobs[0].uid, "1000");
  EXPECT_EQ(jobs[1].name, "2");
  EXPECT_EQ(jobs[1].limits.cpu_weight, 1U);
  EXPECT_THAT(jobs[1].needs, ElementsAre(JobId{1}));
}

TEST(JsonlFile, KeepsWhatAJobDoesNotSay) {
  policy::JobSpec defaults;
  defaults.retries = 3;
  defaults.env = {{"A", "1"}, {"B", "2"}};
  const auto jobs = good(R"({"shell": "a", "env": {"B": "x", "C": "y"}})", defaults);
  EXPECT_EQ(jobs.front().retries, 3U);
  EXPECT_THAT(jobs.front().env, ElementsAre(Pair("A", "1"), Pair("B", "x"), Pair("C", "y")));
}

TEST(JsonlFile, NeedsMayNameLaterJobs) {
  const auto jobs = good(
      "{\"id\": \"c\", \"shell\": \"c\", \"needs\": [\"b\", \"a\"]}\n"
      "{\"id\": \"a\", \"shell\": \"a\"}\n{\"id\": \"b\", \"shell\": \"b\"}\n");
  EXPECT_THAT(jobs[0].needs, ElementsAre(JobId{2}, JobId{3}));
}

// What stands after `{"shell": "x", ` and the error after "jobs.jsonl:1: ".
TEST(JsonlFile, ChecksTypes) {
  const std::pair<const char*, const char*> table[] = {
      {R"("memory_max": true)",
       R"("memory_max": found true, expected a whole number of bytes or a size such as "512M")"},
      {R"("memory_max": 0)", R"("memory_max": found 0, expected a size above 0 such as "512M")"},
      {R"("memory_max": -1)",
       R"("memory_max": found -1, expected a whole number of bytes or a size such as "512M")"},
      {R"("memory_max": 1.5)",
       R"("memory_max": found 1.5, expected a whole number of bytes or a size such as "512M")"},
      {R"("memory_hint": "12Q")",
       R"("memory_hint": found "12Q", expected a size such as 512M, 1.5GiB or a number of bytes)"},
      {R"("timeout": 0)",
       R"("timeout": found 0, expected a number of seconds above 0 or a duration such as "10s")"},
      {R"("timeout": 1e300)",
       R"("timeout": found 1e+300, expected a number of seconds above 0 or a duration such as )"
       R"("10s")"},
      {R"("timeout": "soon")",
       R"("timeout": found "soon", expected a duration such as 250ms, 10s, 5m, 1h or a number of )"
       R"(seconds)"},
      {R"("cpus": 0)", R"("cpus": found 0, expected a number of at least 0.001)"},
      {R"("cpus": 0.0009)", R"("cpus": found 0.0009, expected a number of at least 0.001)"},
      {R"("cpus": "2")", R"("cpus": found "2", expected a number of at least 0.001)"},
      {R"("cpu_hint": 0)", R"("cpu_hint": found 0, expected a number above 0)"},
      {R"("weight": 0)", R"("weight": found 0, expected a whole number from 1 to 10000)"},
      {R"("weight": 10001)", R"("weight": found 10001, expected a whole number from 1 to 10000)"},
      {R"("weight": 18446744073709551615)",
       R"("weight": found 18446744073709551615, expected a whole number from 1 to 10000)"},
      {R"("io_weight": 1.5)", R"("io_weight": found 1.5, expected a whole number from 1 to 10000)"},
      {R"("cap": 0)", R"("cap": found 0, expected a whole number from 1 to 1000000)"},
      {R"("retries": -1)", R"("retries": found -1, expected a whole number from 0 to 4294967295)"},
      {R"("priority": null)",
       R"("priority": found null, expected a whole number from -2147483648 to 2147483647)"},
      {R"("restartable": "no")", R"("restartable": found "no", expected true or false)"},
      {R"("class": "")", R"("class": found "", expected text that is not empty)"},
      {R"("class": ["a"])", R"("class": found a list, expected text)"},
      {R"("cwd": "a\u0000b")", R"("cwd": found "a\u0000b", expected text without NUL)"},
      {R"("id": 1.5)", R"("id": found 1.5, expected text or a whole number)"},
      {R"("id": -1)", R"("id": found -1, expected text or a whole number)"},
      {R"("cpuset": "a")", R"("cpuset": found "a", expected a list of CPUs such as "0-3,7")"},
      {R"("env": ["A=1"])", R"("env": found a list, expected an object of names and texts)"},
      {R"("env": {"A": 1})", R"("env": "A": found 1, expected text)"},
      {R"("env": {"A=": ""})",
       R"("env": found "A=", expected the name of a variable, without `=` and NUL)"},
      {R"("needs": "a")", R"("needs": found "a", expected a list of ids)"},
      {R"("needs": [{}])", R"("needs": found an object, expected text or a whole number)"},
  };
  for (const auto& [keys, error] : table) {
    EXPECT_EQ(error_of("{\"shell\": \"x\", " + std::string(keys) + "}"),
              "jobs.jsonl:1: " + std::string(error));
  }
}

TEST(JsonlFile, ChecksCommands) {
  const std::pair<const char*, const char*> table[] = {
      {R"({})", R"(found neither "argv" nor "shell", expected one of them)"},
      {R"({"argv": ["a"], "shell": "a"})",
       R"(found both "argv" and "shell", expected one of them)"},
      {R"({"argv": []})",
       R"("argv": found an empty list, expected a list of words, the program first)"},
      {R"({"argv": "ls -l"})",
       R"("argv": found "ls -l", expected a list of words, the program first)"},
      {R"({"argv": ["a", 1]})", R"("argv": word 2: found 1, expected text)"},
      {R"({"argv": [""]})", R"("argv": word 1: found "", expected text that is not empty)"},
      {R"({"shell": ""})", R"("shell": found "", expected text that is not empty)"},
      {R"({"shell": "a", "weight": 1, "cpu_weight": 1})",
       R"(found both "weight" and "cpu_weight", expected one: they mean the same)"},
  };
  for (const auto& [text, error] : table) {
    EXPECT_EQ(error_of(text), "jobs.jsonl:1: " + std::string(error));
  }
  EXPECT_THAT(error_of("{\"argv\": [\"a\", \"" + std::string(kWordBytesMax + 1, 'x') + "\"]}"),
              HasSubstr("jobs.jsonl:1: found a word of 131072 bytes, expected at most 131071"));
}

TEST(JsonlFile, NamesTheLineAndTheKeyThatIsMeant) {
  EXPECT_EQ(error_of("{\"shell\": \"a\"}\n\n{\"shell\": \"b\", \"memory-max\": 1}"),
            R"(jobs.jsonl:3: found the unknown key "memory-max", expected perhaps "memory_max")");
  EXPECT_EQ(error_of(R"({"shel": "a"})"),
            R"(jobs.jsonl:1: found the unknown key "shel", expected perhaps "shell")");
  for (const char* word : {"cmd", "command"}) {
    EXPECT_EQ(error_of("{\"" + std::string(word) + "\": \"a\"}"),
              "jobs.jsonl:1: found the unknown key \"" + std::string(word) +
                  "\", expected perhaps \"shell\" (a text for /bin/sh) or \"argv\" (a list of "
                  "words)");
  }
  EXPECT_EQ(error_of(R"({"shell": "a", "depends": []})"),
            R"(jobs.jsonl:1: found the unknown key "depends", expected perhaps "needs")");
  EXPECT_THAT(error_of(R"({"shell": "a", "zzzzzzzzzzz": 1})"),
              HasSubstr("found the unknown key \"zzzzzzzzzzz\", expected one of argv cap class "));
  EXPECT_EQ(error_of(R"({"shell": "a", "shell": "b"})"),
            R"(jobs.jsonl:1: found the key "shell" twice, expected it once)");
}

TEST(JsonlFile, RefusesWhatIsNoObject) {
  EXPECT_EQ(error_of("{\"shell\" \"a\"}"),
            "jobs.jsonl:1: found broken JSON near column 12, expected one JSON object");
  EXPECT_EQ(error_of("[1]"), "jobs.jsonl:1: found a list, expected one JSON object");
  EXPECT_EQ(error_of("1"), "jobs.jsonl:1: found 1, expected one JSON object");
  for (const char* bad : {"{", "{}{}", "{\"shell\": \"\xff\"}", "{\"cpus\": 1e999}", "make"}) {
    EXPECT_THAT(error_of(bad), HasSubstr("jobs.jsonl:1: found broken JSON")) << bad;
  }
  EXPECT_THAT(error_of(std::string(100'000, '[')), HasSubstr("broken JSON"));
  EXPECT_THAT(error_of("{\"cwd\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}"),
              HasSubstr("\"cwd\": found a list"));
}

TEST(JsonlFile, RefusesIdsThatAreNotUnique) {
  EXPECT_THAT(
      error_of("{\"id\": \"a\", \"shell\": \"a\"}\n\n{\"id\": \"a\", \"shell\": \"b\"}\n"),
      HasSubstr(
          "jobs.jsonl:3: \"id\": found \"a\" twice, expected a different id for each job; line 1"));
  EXPECT_THAT(error_of("{\"id\": \"2\", \"shell\": \"a\"}\n{\"shell\": \"b\"}\n"),
              HasSubstr("jobs.jsonl:2: \"id\": found \"2\" twice"));
}

TEST(JsonlFile, RefusesUnknownNeeds) {
  EXPECT_EQ(error_of("{\"id\": \"compile\", \"shell\": \"a\"}\n"
                     "{\"shell\": \"b\", \"needs\": [\"complie\"]}\n"),
            "jobs.jsonl:2: \"needs\": found \"complie\", expected the id of a job of this file, "
            "perhaps \"compile\"");
}

TEST(JsonlFile, NamesACircle) {
  const auto job = [](const std::string& id, const std::string& needs) {
    return "{\"id\": \"" + id + "\", \"shell\": \"x\", \"needs\": [" + needs + "]}\n";
  };
  EXPECT_EQ(error_of(job("a", "\"b\"") + job("b", "\"c\"") + job("c", "\"b\"")),
            "jobs.jsonl:2: \"needs\": found a cycle, \"b\" -> \"c\" -> \"b\", expected no job "
            "that needs itself, directly or through others");
  EXPECT_THAT(error_of(job("a", "\"a\"")), HasSubstr("found a cycle, \"a\" -> \"a\""));
}

// Needs that point along some order have no circle, however the jobs lie in the file; one more need
// against the order, between jobs that depend on each other, makes one. Long chains are no trouble.
RC_GTEST_PROP(JsonlFileProperty, FindsCirclesAndNothingElse, ()) {
  const int count = *rc::gen::inRange(2, 40);
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += "{\"id\": \"j" + std::to_string(i) + "\", \"shell\": \"x\", \"needs\": [";
    if (i > 0) text += "\"j" + std::to_string(*rc::gen::inRange(0, i)) + "\"";
    text += "]}\n";
  }
  RC_ASSERT(error_of(text) == "no error");
  RC_ASSERT(
      error_of(text + "{\"id\": \"x\", \"shell\": \"x\", \"needs\": [\"x\"]}").find("cycle") !=
      std::string::npos);
}

TEST(JsonlFile, FollowsLongChains) {
  constexpr int kJobs = 10'000;
  std::string text;
  for (int i = 1; i <= kJobs; ++i) {
    text += "{\"shell\": \"x\", \"needs\": [" + std::to_string(i % kJobs + 1) + "]}\n";
  }
  EXPECT_THAT(error_of(text), HasSubstr("\"12\" -> ... -> \"1\""));
}

}  // namespace
}  // namespace plimsoll::jobfile

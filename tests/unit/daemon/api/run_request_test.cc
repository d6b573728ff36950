#include "daemon/api/run_request.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "plimsoll/v1/jobs.pb.h"

namespace plimsoll::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

v1::JobSpec message(const std::string& text) {
  v1::JobSpec job;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &job)) << text;
  return job;
}

Result<JobRequest> read(const v1::JobSpec& job) {
  v1::RunRequest request;
  *request.mutable_job() = job;
  return read_run_request(request.SerializeAsString());
}

TEST(ReadRunRequest, TakesEveryField) {
  const auto order = read(message(R"(
      name: "n" argv: "a" argv: "b c" cwd: "/tmp" env { key: "X" value: "1=2" } class: "k"
      memory_hint_bytes: 1 cpu_hint_cores: 2 memory_max_bytes: 3 cpus_max: 0.5 pids_max: 4
      priority: -5 timeout { seconds: 6 nanos: 7 } restartable: true weight: 300)"));
  ASSERT_TRUE(order) << order.error().message();
  const policy::JobSpec& spec = order->spec;
  EXPECT_EQ(spec.name, "n");
  EXPECT_THAT(std::get<Words>(spec.command), ElementsAre("a", "b c"));
  EXPECT_EQ(spec.cwd, "/tmp");
  EXPECT_THAT(order->environment, ElementsAre("X=1=2"));
  EXPECT_EQ(spec.job_class, "k");
  EXPECT_EQ(spec.memory_hint, Bytes{1});
  EXPECT_EQ(spec.cpu_hint, 2);
  EXPECT_EQ(spec.limits.memory_max, Bytes{3});
  EXPECT_EQ(spec.limits.cpus, 0.5);
  EXPECT_EQ(spec.limits.pids_max, 4u);
  EXPECT_EQ(spec.priority, -5);
  EXPECT_EQ(spec.timeout, 6s + 7ns);
  EXPECT_TRUE(spec.restartable);
  EXPECT_EQ(spec.limits.cpu_weight, 300u);
}

TEST(ReadRunRequest, CountsWhatIsKept) {
  v1::JobSpec job;
  job.add_argv("a");
  const std::size_t least = kept_bytes(*read(job));
  for (int i = 0; i < 1000; ++i) job.add_argv("");
  (*job.mutable_env())["X"] = "";
  EXPECT_EQ(kept_bytes(*read(job)) - least, 1001 * Words::kAround + 2);
}

TEST(ReadRunRequest, RefusesMoreWordsThanCanBeExecuted) {
  v1::JobSpec job;
  for (int i = 0; i < 250'001; ++i) job.add_argv("a");
  const auto order = read(job);
  ASSERT_FALSE(order);
  EXPECT_THAT(order.error().what, HasSubstr("job.argv: found more than 250000 words"));
}

TEST(ReadRunRequest, RefusesMoreVariablesThanAnyProcessHas) {
  v1::JobSpec job;
  job.add_argv("a");
  for (int i = 0; i < 10'000; ++i) (*job.mutable_env())[std::to_string(i)] = "";
  EXPECT_TRUE(read(job));
  (*job.mutable_env())["X"] = "";
  const auto order = read(job);
  ASSERT_FALSE(order);
  EXPECT_THAT(order.error().what, HasSubstr("job.env: found more than 10000 variables"));
}

TEST(ReadRunRequest, RefusesWhatNoKernelTakes) {
  const std::string longest(supervisor::kJobWordBytesMax, 'x');
  v1::JobSpec job;
  job.add_argv(longest);
  job.set_cwd("/" + std::string(supervisor::kJobPathMax - 1, 'd'));
  EXPECT_TRUE(read(job));
  job.add_argv(longest + "x");
  EXPECT_THAT(read(job).error().what,
              HasSubstr("job.argv: found a word of 131072 bytes, expected at most 131071"));
  job.mutable_argv()->RemoveLast();
  (*job.mutable_env())["A"] = longest;
  EXPECT_THAT(read(job).error().what, HasSubstr("job.env: found a variable of 131073 bytes"));
  job.clear_env();
  job.set_cwd("/" + std::string(supervisor::kJobPathMax, 'd'));
  EXPECT_THAT(read(job).error().what, HasSubstr("job.cwd: found a path of 4096 bytes"));
  job.set_cwd(std::string(4000, 'd'));
  EXPECT_FALSE(read(job));
}

TEST(ReadRunRequest, WhatIsNotSaidIsAbsent) {
  const auto order = read(message(R"(argv: "true")"));
  ASSERT_TRUE(order);
  EXPECT_EQ(order->spec.cwd, "/");
  EXPECT_EQ(order->spec.limits, Limits{});
  EXPECT_FALSE(order->spec.memory_hint);
  EXPECT_FALSE(order->spec.cpu_hint);
  EXPECT_FALSE(order->spec.timeout);
  EXPECT_FALSE(order->spec.restartable);
}

TEST(ReadRunRequest, RefusesWhatMakesNoSense) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "job.argv: found no command, expected one"},
      {"argv: ''", "job.argv: found no command"},
      {"argv: 'a' weight: 10001", "job.weight: found 10001, expected 1 to 10000"},
      {"argv: 'a\\0b'", "job.argv: found a NUL byte"},
      {"argv: 'a' cwd: 'tmp'", "job.cwd: found \"tmp\", expected an absolute path"},
      {"argv: 'a' env { key: 'A=B' value: '' }", "job.env: found \"A=B\""},
      {"argv: 'a' env { key: '' value: '' }", "job.env: found \"\""},
      {"argv: 'a' priority: 1001", "job.priority: found 1001"},
      {"argv: 'a' priority: -2147483648", "job.priority: found -2147483648"},
      {"argv: 'a' cpus_max: -1", "job.cpus_max: found -1"},
      {"argv: 'a' cpus_max: 0.0009", "job.cpus_max: found 0.000900, expected 0, or 0.001"},
      {"argv: 'a' cpus_max: inf", "job.cpus_max: found inf"},
      {"argv: 'a' cpu_hint_cores: nan", "job.cpu_hint_cores: found nan"},
      {"argv: 'a' timeout { }", "job.timeout: found 0 s"},
      {"argv: 'a' timeout { seconds: -1 }", "job.timeout: found -1 s"},
      {"argv: 'a' timeout { nanos: 1000000000 }", "job.timeout: found 0 s"},
      {"argv: 'a' name: '" + std::string(257, 'x') + "'", "job.name: found a name or class"},
  };
  for (const auto& [text, what] : cases) {
    const auto order = read(message(text));
    ASSERT_FALSE(order) << text;
    EXPECT_EQ(order.error().code, std::errc::invalid_argument) << text;
    EXPECT_THAT(order.error().what, HasSubstr(what)) << text;
  }
}

TEST(ReadRunRequest, OfAVariableThatIsNamedTwiceTheLastValueCounts) {
  const std::string entry = "\x22\x06\x0a\x01X\x12\x01";
  const std::string job =
      "\x12\x01"
      "a" +
      entry + "1" + entry + "2";
  const auto order = read_run_request("\x0a" + std::string(1, static_cast<char>(job.size())) + job);
  ASSERT_TRUE(order) << order.error().message();
  EXPECT_THAT(order->environment, ElementsAre("X=2"));
}

TEST(ReadRunRequest, PartsOfAJobAreJoined) {
  v1::RunRequest first, second;
  first.mutable_job()->add_argv("a");
  first.mutable_job()->set_name("first");
  second.mutable_job()->add_argv("b");
  second.mutable_job()->set_name("second");
  const auto order = read_run_request(first.SerializeAsString() + second.SerializeAsString());
  ASSERT_TRUE(order) << order.error().message();
  EXPECT_THAT(std::get<Words>(order->spec.command), ElementsAre("a", "b"));
  EXPECT_EQ(order->spec.name, "second");
}

// A client that is newer than this daemon may say more.
TEST(ReadRunRequest, FieldsThatItDoesNotKnowArePassed) {
  const std::string unknown =
      "\xf8\x01\x2a"
      "\xfa\x01\x03"
      "abc"
      "\xfd\x01"
      "abcd"
      "\xf9\x01"
      "abcdefgh";
  const std::string job = unknown +
                          "\x12\x01"
                          "a" +
                          unknown;
  const auto order =
      read_run_request(unknown + "\x0a" + std::string(1, static_cast<char>(job.size())) + job);
  ASSERT_TRUE(order) << order.error().message();
  EXPECT_THAT(std::get<Words>(order->spec.command), ElementsAre("a"));
}

TEST(ReadRunRequest, WordsAreAnyBytes) {
  const auto order = read_run_request("\x0a\x04\x12\x02\xff\xfe");
  ASSERT_TRUE(order) << order.error().message();
  EXPECT_THAT(std::get<Words>(order->spec.command), ElementsAre("\xff\xfe"));
}

TEST(ReadRunRequest, WhatIsNoMessageIsRefused) {
  v1::RunRequest request;
  request.mutable_job()->add_argv("a word");
  request.mutable_job()->set_cwd("/tmp");
  const std::string whole = request.SerializeAsString();
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const auto order = read_run_request(whole.substr(0, size));
    ASSERT_FALSE(order) << size;
    EXPECT_THAT(order.error().what, HasSubstr("expected a plimsoll.v1.RunRequest")) << size;
  }
  const std::vector<std::string> none = {
      "\x0a\x04\x12\x05"
      "ab",                                // a word that is longer than its job
      "\x0a\x02\x13\x14",                  // a group
      std::string("\x0a\x02\x02\x00", 4),  // a field without a number
      "\x0a\x06\x12\x01"
      "a\x0a\x01\xff",  // a name that is not UTF-8
      "\x0a\x07\x12\x01"
      "a\x22\x02\x0a\x05"};  // a variable that is longer than its entry
  for (const std::string& bytes : none) {
    const auto order = read_run_request(bytes);
    ASSERT_FALSE(order) << bytes;
    EXPECT_THAT(order.error().what, HasSubstr("expected a plimsoll.v1.RunRequest"));
  }
}

}  // namespace
}  // namespace plimsoll::daemon

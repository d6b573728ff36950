#include "daemon/api/jobs_messages.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "daemon/grpc/quiet.h"

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

TEST(OrderOf, TakesEveryField) {
  const auto order = order_of(message(R"(
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

TEST(OrderOf, CountsWhatIsKept) {
  v1::JobSpec job;
  job.add_argv("a");
  const std::size_t least = kept_bytes(*order_of(job));
  for (int i = 0; i < 1000; ++i) job.add_argv("");
  (*job.mutable_env())["X"] = "";
  EXPECT_EQ(kept_bytes(*order_of(job)) - least, 1001 * Words::kAround + 2);
}

TEST(OrderOf, RefusesMoreWordsThanCanBeExecuted) {
  v1::JobSpec job;
  for (int i = 0; i < 250'001; ++i) job.add_argv("a");
  const auto order = order_of(job);
  ASSERT_FALSE(order);
  EXPECT_THAT(order.error().what, HasSubstr("job.argv: found more than 250000 words"));
}

TEST(OrderOf, RefusesWhatNoKernelTakes) {
  const std::string longest(supervisor::kJobWordBytesMax, 'x');
  v1::JobSpec job;
  job.add_argv(longest);
  job.set_cwd("/" + std::string(supervisor::kJobPathMax - 1, 'd'));
  EXPECT_TRUE(order_of(job));
  job.add_argv(longest + "x");
  EXPECT_THAT(order_of(job).error().what,
              HasSubstr("job.argv: found a word of 131072 bytes, expected at most 131071"));
  job.mutable_argv()->RemoveLast();
  (*job.mutable_env())["A"] = longest;
  EXPECT_THAT(order_of(job).error().what, HasSubstr("job.env: found a variable of 131073 bytes"));
  job.clear_env();
  job.set_cwd("/" + std::string(supervisor::kJobPathMax, 'd'));
  EXPECT_THAT(order_of(job).error().what, HasSubstr("job.cwd: found a path of 4096 bytes"));
  job.set_cwd(std::string(4000, 'd'));
  EXPECT_FALSE(order_of(job));
}

TEST(OrderOf, WhatIsNotSaidIsAbsent) {
  const auto order = order_of(message(R"(argv: "true")"));
  ASSERT_TRUE(order);
  EXPECT_EQ(order->spec.cwd, "/");
  EXPECT_EQ(order->spec.limits, Limits{});
  EXPECT_FALSE(order->spec.memory_hint);
  EXPECT_FALSE(order->spec.cpu_hint);
  EXPECT_FALSE(order->spec.timeout);
  EXPECT_FALSE(order->spec.restartable);
}

TEST(OrderOf, RefusesWhatMakesNoSense) {
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
    const auto order = order_of(message(text));
    ASSERT_FALSE(order) << text;
    EXPECT_EQ(order.error().code, std::errc::invalid_argument) << text;
    EXPECT_THAT(order.error().what, HasSubstr(what)) << text;
  }
}

TEST(MessageOf, AnEndHasTheReportAndOnlyWhatIsKnown) {
  report::JobReport report;
  report.outcome = policy::Outcome::signalled;
  report.signal = 11;
  const v1::Ended ended = message_of(report).ended();
  EXPECT_EQ(ended.outcome(), "signalled");
  EXPECT_FALSE(ended.has_exit_code());
  EXPECT_EQ(ended.signal(), 11);
  EXPECT_THAT(ended.report(), HasSubstr("\"outcome\":\"signalled\""));
}

TEST(MessageOf, AStoryKeepsItsNumbers) {
  const JobStory story{.decisions = {{.at = 1500ms,
                                      .kind = policy::EventKind::held,
                                      .reason = "no room",
                                      .numbers = {{"used_bytes", 7}}}},
                       .cut = true};
  const v1::ExplainResponse response = message_of(story);
  ASSERT_EQ(response.decisions_size(), 1);
  EXPECT_EQ(response.decisions(0).at().seconds(), 1);
  EXPECT_EQ(response.decisions(0).at().nanos(), 500'000'000);
  EXPECT_EQ(response.decisions(0).kind(), "held");
  EXPECT_EQ(response.decisions(0).numbers().at("used_bytes"), 7);
  EXPECT_TRUE(response.cut());
}

TEST(KeepProtobufQuiet, AMessageThatIsWrongIsRefusedAndNothingIsPrinted) {
  const std::string wrong = "\x0a\x01\xff";  // a name that is not UTF-8
  v1::JobSpec job;
  testing::internal::CaptureStderr();
  EXPECT_FALSE(job.ParseFromString(wrong));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("UTF-8"));
  keep_protobuf_quiet();
  testing::internal::CaptureStderr();
  EXPECT_FALSE(job.ParseFromString(wrong));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace plimsoll::daemon

#include "supervisor/control/job_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::supervisor {
namespace {

using namespace plimsoll::literals;
using ::testing::HasSubstr;

SubmitJob whole() {
  SubmitJob asked;
  asked.job.command = std::vector<std::string>{"cc", "a b\n", "", "\xFF"};
  asked.job.cwd = "/some\nwhere";
  asked.job.name = "nightly";
  asked.job.job_class = "link";
  asked.job.memory_hint = 3_GiB;
  asked.job.cpu_hint = 1.5;
  asked.job.disk_hint = 2_GiB;
  asked.job.limits.memory_max = 4_GiB;
  asked.job.limits.cpus = 0.5;
  asked.job.limits.pids_max = 7;
  asked.job.limits.cpu_weight = 10;
  asked.job.priority = -3;
  asked.job.timeout = std::chrono::seconds(90);
  asked.job.restartable = false;
  asked.environment = {"A=1", "B=\xC3(\n"};
  asked.umask = 027;
  asked.files = OutputFiles{.out = "/out", .err = "/err\n"};
  return asked;
}

// As the daemon reads it.
Result<SubmitJob> read(const std::string& message) {
  const std::size_t end = message.find('\n');
  auto request = parse_job_request(message.substr(0, end));
  if (!request) return pass(std::move(request));
  const std::string bytes = message.substr(end + 1);
  const auto& head = std::get<SubmitHead>(*request);
  EXPECT_EQ(head.bytes, bytes.size());
  return complete(head, bytes);
}

TEST(JobProtocol, ASubmissionArrivesAsItWas) {
  const SubmitJob asked = whole();
  const auto seen = read(to_message(asked));
  ASSERT_TRUE(seen) << seen.error().message();
  EXPECT_EQ(seen->job.command, asked.job.command);
  EXPECT_EQ(seen->job.cwd, asked.job.cwd);
  EXPECT_EQ(seen->job.name, asked.job.name);
  EXPECT_EQ(seen->job.job_class, asked.job.job_class);
  EXPECT_EQ(seen->job.memory_hint, asked.job.memory_hint);
  EXPECT_EQ(seen->job.cpu_hint, asked.job.cpu_hint);
  EXPECT_EQ(seen->job.disk_hint, asked.job.disk_hint);
  EXPECT_EQ(seen->job.limits, asked.job.limits);
  EXPECT_EQ(seen->job.priority, -3);
  EXPECT_EQ(seen->job.timeout, asked.job.timeout);
  EXPECT_FALSE(seen->job.restartable);
  EXPECT_EQ(seen->environment, asked.environment);
  EXPECT_EQ(seen->umask, asked.umask);
  EXPECT_EQ(seen->files, asked.files);
}

TEST(JobProtocol, TheLeastThatIsSaidIsNoMoreThanThat) {
  SubmitJob asked;
  asked.job.command = std::vector<std::string>{"true"};
  asked.job.cwd = "/";
  const auto seen = read(to_message(asked));
  ASSERT_TRUE(seen) << seen.error().message();
  EXPECT_EQ(seen->job.limits, Limits());
  EXPECT_FALSE(seen->job.memory_hint || seen->job.cpu_hint || seen->job.timeout || seen->files);
  EXPECT_TRUE(seen->environment.empty());
}

TEST(JobProtocol, WhatMakesNoSenseIsRefusedByName) {
  const std::string sizes = R"("umask":18,"words":1,"values":0,"bytes":6)";
  const std::pair<std::string, const char*> cases[] = {
      {R"({"command":"submit"})", "\"umask\""},
      {R"({"command":"submit","umask":18,"words":0,"values":0,"bytes":2})", "\"words\""},
      {R"({"command":"submit","umask":512,"words":1,"values":0,"bytes":2})", "\"umask\""},
      {R"({"command":"submit","umask":18,"words":1,"values":0,"bytes":9999999})", "\"bytes\""},
      {R"({"command":"submit","umask":18,"words":1,"values":-1,"bytes":2})", "\"values\""},
      {R"({"command":"submit","umask":18,"words":250001,"values":0,"bytes":3145728})", "\"words\""},
      {R"({"command":"submit","umask":18,"words":1,"values":250001,"bytes":3145728})",
       "\"values\""},
      {R"({"command":"submit","umask":18,"words":200000,"values":50001,"bytes":3145728})",
       "\"values\": expected at most 250000"},
      {R"({"command":"submit",)" + sizes + R"(,"cpus_max":0})", "\"cpus_max\""},
      {R"({"command":"submit",)" + sizes + R"(,"cpu_hint_cores":1e9})", "\"cpu_hint_cores\""},
      {R"({"command":"submit",)" + sizes + R"(,"memory_max_bytes":0})", "\"memory_max_bytes\""},
      {R"({"command":"submit",)" + sizes + R"(,"pids_max":0})", "\"pids_max\""},
      {R"({"command":"submit",)" + sizes + R"(,"cpu_weight":10001})", "\"cpu_weight\""},
      {R"({"command":"submit",)" + sizes + R"(,"timeout_ns":0})", "\"timeout_ns\""},
      {R"({"command":"submit",)" + sizes + R"(,"priority":"high"})", "\"priority\""},
      {R"({"command":"submit",)" + sizes + R"(,"priority":4294967297})", "\"priority\""},
      {R"({"command":"submit",)" + sizes + R"(,"priority":-2147483649})", "\"priority\""},
      {R"({"command":"submit",)" + sizes + R"(,"timeout_ns":9223372036854775808})",
       "\"timeout_ns\""},
      {R"({"command":"submit",)" + sizes + R"(,"memory_max_bytes":"1G"})", "\"memory_max_bytes\""},
      {R"({"command":"submit",)" + sizes + R"(,"pids_max":-1})", "\"pids_max\""},
      {R"({"command":"submit",)" + sizes + R"(,"cpus_max":"two"})", "\"cpus_max\""},
      {R"({"command":"submit",)" + sizes + R"(,"name":")" + std::string(300, 'x') + "\"}",
       "\"name\""},
      {R"({"command":"dance"})", "dance"},
      {"nonsense", "JSON object"},
      {"[]", "JSON object"},
  };
  for (const auto& [line, part] : cases) {
    const auto request = parse_job_request(line);
    ASSERT_FALSE(request) << line;
    EXPECT_THAT(request.error().what, HasSubstr(part)) << line;
  }
}

// None is echoed, and none reaches the guardian, who keeps all jobs alive.
TEST(JobProtocol, WhatNoKernelTakesIsRefused) {
  const std::string longest(kJobWordBytesMax, 'x');
  const auto refused = [](const std::string& word, const std::string& value, const std::string& cwd,
                          const std::string& file) {
    SubmitHead head;
    head.words = head.values = 1;
    head.asked.files.emplace();
    const std::string nul(1, '\0');
    std::string bytes;
    for (const std::string& text : {word, value, cwd, file, std::string("/err")}) {
      bytes += text + nul;
    }
    const auto asked = complete(head, bytes);
    return asked ? std::string() : asked.error().what;
  };
  const std::string path = "/" + std::string(kJobPathMax - 1, 'd');
  EXPECT_EQ(refused(longest, longest, path, path), "");
  EXPECT_THAT(refused(longest + "x", "A=", "/", "/f"), HasSubstr("131072 bytes"));
  EXPECT_THAT(refused("true", longest + "x", "/", "/f"), HasSubstr("131072 bytes"));
  EXPECT_THAT(refused("true", "A=", path + "d", "/f"), HasSubstr("4096 bytes"));
  EXPECT_THAT(refused("true", "A=", "/", path + "d"), HasSubstr("4096 bytes"));
}

TEST(JobProtocol, TextsMustBeAsManyAsWereTold) {
  SubmitHead head;
  head.words = 2;
  head.values = 1;
  const auto good = complete(head, {"a\0b\0C=1\0/d\0", 11});
  ASSERT_TRUE(good) << good.error().message();
  EXPECT_EQ(good->environment, std::vector<std::string>{"C=1"});
  for (const std::string_view bytes :
       {std::string_view("a\0b\0C=1\0/d", 10), std::string_view("a\0b\0/d\0", 7),
        std::string_view("a\0b\0C=1\0/d\0e\0", 13), std::string_view("a\0b\0C=1\0d\0", 10),
        std::string_view("\0b\0C=1\0/d\0", 10), std::string_view()}) {
    EXPECT_FALSE(complete(head, bytes));
  }
}

TEST(JobProtocol, NewsComeThrough) {
  const auto line = [](const JobNews& news) {
    std::string text = to_message(news);
    EXPECT_EQ(text.back(), '\n');
    text.pop_back();
    return *parse_news(text);
  };
  EXPECT_EQ(std::get<JobTaken>(line(JobTaken{JobId{7}})).job, JobId{7});
  EXPECT_EQ(std::get<JobRefused>(line(JobRefused{"no"})).error, "no");
  const auto stands = std::get<JobStands>(line(JobStands{"paused", 2, "why"}));
  EXPECT_EQ(stands.state, "paused");
  EXPECT_EQ(stands.attempt, 2u);
  EXPECT_EQ(stands.reason, "why");
  const auto output = std::get<OutputHead>(line(OutputHead{JobOutput::err, 12}));
  EXPECT_EQ(output.stream, JobOutput::err);
  EXPECT_EQ(output.bytes, 12u);
  const auto ended = std::get<JobEnded>(line(JobEnded{.outcome = "failed_to_start",
                                                      .exit_code = {},
                                                      .signal = 9,
                                                      .start_error = 2,
                                                      .reason = "r",
                                                      .report = "{\"a\":1}"}));
  EXPECT_EQ(ended.outcome, "failed_to_start");
  EXPECT_FALSE(ended.exit_code);
  EXPECT_EQ(ended.signal, 9);
  EXPECT_EQ(ended.start_error, 2);
  EXPECT_EQ(ended.report, "{\"a\":1}");
  EXPECT_FALSE(parse_news(R"({"event":"output","stream":"stdout","bytes":999999})"));
  EXPECT_FALSE(parse_news("{}"));
  EXPECT_FALSE(parse_news("x"));
}

TEST(JobProtocol, AListComesThrough) {
  std::string text = to_message(std::vector<ListedJob>{{.job = JobId{3},
                                                        .name = "n",
                                                        .command = std::string(1000, 'c'),
                                                        .uid = 65534,
                                                        .state = "waiting",
                                                        .reason = "waits for memory",
                                                        .age = std::chrono::seconds(5)}});
  const auto jobs = parse_listed(text);
  ASSERT_TRUE(jobs) << jobs.error().message();
  ASSERT_EQ(jobs->size(), 1u);
  EXPECT_EQ(jobs->front().job, JobId{3});
  EXPECT_EQ(jobs->front().uid, 65534u);
  EXPECT_EQ(jobs->front().age, std::chrono::seconds(5));
  EXPECT_EQ(jobs->front().reason, "waits for memory");
  EXPECT_EQ(jobs->front().command.size(), 200u);
  EXPECT_FALSE(parse_listed(R"({"ok":false,"error":"no"})"));
}

}  // namespace
}  // namespace plimsoll::supervisor

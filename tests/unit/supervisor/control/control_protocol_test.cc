#include "supervisor/control/control_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <rapidcheck/gtest.h>

#include "supervisor/control/job_protocol.h"

namespace plimsoll::supervisor {
namespace {

using namespace plimsoll::literals;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(ParseRequest, TakesEachCommand) {
  struct Row {
    const char* line;
    ControlRequest request;
  };
  for (const auto& [line, request] : {
           Row{R"({"command":"status"})", AskStatus{}},
           Row{R"( {"later":[1,{"x":2}],"command":"status","job":7} )", AskStatus{}},
           Row{R"({"command":"pause","job":"link chrome"})", PauseJob{"link chrome"}},
           Row{R"({"command":"resume","job":12})", ResumeJob{"12"}},
           Row{R"({"command":"kill","job":"\u0000x"})", KillJob{std::string("\0x", 2)}},
           Row{R"({"command":"line","size":"80%"})", SetLine{"80%"}},
           Row{R"({"command":"line","size":1073741824})", SetLine{"1073741824"}},
           Row{R"({"command":"jobs","jobs":4})", SetJobsMax{4}},
       }) {
    const auto parsed = parse_request(line);
    ASSERT_TRUE(parsed) << line << ": " << parsed.error().message();
    EXPECT_EQ(*parsed, request) << line;
  }
}

TEST(ParseRequest, SaysWhatIsWrong) {
  struct Row {
    const char* line;
    const char* error;
  };
  for (const auto& [line, error] : {
           Row{"", "expected a JSON object"},
           Row{"status", "found status, expected a JSON object"},
           Row{"{", "expected a JSON object"},
           Row{"[]", "expected a JSON object"},
           Row{"null", "expected a JSON object"},
           Row{"{\"command\":\"status\"} x", "expected a JSON object"},
           Row{"\xff\xfe", "expected a JSON object"},
           Row{"{}", "no \"command\""},
           Row{R"({"command":7})", "no \"command\""},
           Row{R"({"command":"stop"})", "found \"stop\", expected status, pause, resume"},
           Row{R"({"command":"pause"})", "no \"job\""},
           Row{R"({"command":"pause","job":""})", "found \"\", expected a name or a number"},
           Row{R"({"command":"kill","job":-1})", "found -1, expected a name or a number"},
           Row{R"({"command":"kill","job":["a"]})", "expected a name or a number"},
           Row{R"({"command":"line"})", "\"size\""},
           Row{R"({"command":"line","size":-5})", "\"size\""},
           Row{R"({"command":"jobs","jobs":0})", "from 1 to 1000000"},
           Row{R"({"command":"jobs","jobs":1000001})", "from 1 to 1000000"},
           Row{R"({"command":"jobs","jobs":1.5})", "from 1 to 1000000"},
           Row{R"({"command":"jobs","jobs":99999999999999999999})", "from 1 to 1000000"},
       }) {
    const auto parsed = parse_request(line);
    ASSERT_FALSE(parsed) << line;
    EXPECT_THAT(parsed.error().message(), HasSubstr(error)) << line;
  }
}

// A stack on which nothing may go as deep as what somebody has sent.
template <class Act>
void on_a_small_stack(Act act) {
  constexpr std::size_t kSmall = std::size_t{256} << 10;
  pthread_attr_t attributes;
  ASSERT_EQ(::pthread_attr_init(&attributes), 0);
  ASSERT_EQ(::pthread_attr_setstacksize(&attributes, kSmall), 0);
  pthread_t thread{};
  const auto run = [](void* it) -> void* {
    (*static_cast<Act*>(it))();
    return nullptr;
  };
  ASSERT_EQ(::pthread_create(&thread, &attributes, run, &act), 0);
  ::pthread_join(thread, nullptr);
  ::pthread_attr_destroy(&attributes);
}

TEST(ParseRequest, WhatIsNestedDeeplyIsNamedAndNotWalkedThrough) {
  const std::string deep = std::string(30'000, '[') + std::string(30'000, ']');
  on_a_small_stack([&deep] {
    const std::string line = R"({"command":"kill","job":)" + deep + "}";
    const auto parsed = parse_request(line);
    ASSERT_FALSE(parsed);
    EXPECT_THAT(parsed.error().message(), HasSubstr("found a list"));
    EXPECT_FALSE(parse_job_request(line));
    EXPECT_FALSE(parse_job_request(R"({"command":)" + deep + "}"));
    EXPECT_TRUE(parse_job_request(R"({"command":"list","x":)" + deep + "}"));
  });
}

TEST(ParseRequest, DeepNestingIsNoTrouble) {
  const std::string deep(kRequestBytesMax, '[');
  EXPECT_FALSE(parse_request(deep));
  EXPECT_TRUE(parse_request(R"({"command":"status","x":)" + std::string(9000, '[') +
                            std::string(9000, ']') + "}"));
}

RC_GTEST_PROP(Request, IsReadAsItWasWritten, (const std::string& job, std::uint16_t jobs)) {
  // Bytes that are no UTF-8 do not survive JSON.
  std::string name = "x";
  for (const char c : job) {
    if (static_cast<unsigned char>(c) < 0x80) name += c;
  }
  for (const ControlRequest& request :
       {ControlRequest(AskStatus{}), ControlRequest(PauseJob{name}),
        ControlRequest(ResumeJob{name}), ControlRequest(KillJob{name}),
        ControlRequest(SetLine{name}), ControlRequest(SetJobsMax{jobs + 1u})}) {
    std::string line = to_line(request);
    RC_ASSERT(line.find('\n') == line.size() - 1);
    line.pop_back();
    const auto parsed = parse_request(line);
    RC_ASSERT(parsed.has_value());
    RC_ASSERT(*parsed == request);
  }
}

TEST(Answer, IsReadAsItWasWritten) {
  RunStatus status;
  status.run = "20261121-035916-3f2a91c4";
  status.elapsed = 83s;
  status.jobs = {.total = 9,
                 .succeeded = 1,
                 .failed = 2,
                 .skipped = 3,
                 .running = 1,
                 .paused = 1,
                 .waiting = 1};
  status.line = 8_GiB;
  status.used = 3_GiB;
  status.cores = 2.5;
  status.cores_used = 1.25;
  status.estimate = 5_GiB;
  status.cores_wanted = 3.5;
  status.stall = {.cpu_some = 0.5, .memory_full = 0.25, .io_full = {}};
  status.cores_of_others = 1.75;
  status.jobs_max = 4;
  status.counts = {
      .holds = 1, .pauses = 2, .evictions = 3, .reclaims = 4, .lost_cpu = 5s, .used_peak = 4_GiB};
  status.holding = HoldingStatus{JobId{8}, "eight", "waits for memory", {{"free_bytes", 12.5}}};
  status.remaining = 60s;
  status.running = {{{.job = JobId{7},
                      .state = policy::JobState::frozen,
                      .attempt = 2,
                      .ran = 3s,
                      .frozen = 1s,
                      .used = 1_GiB,
                      .cores = 0.5,
                      .estimate = 2_GiB,
                      .remaining = 9s,
                      .growth = 1048576,
                      .io = 3_MiB,
                      .paused_for = policy::PauseCause::cores,
                      .reason = "the cores are busy"},
                     "seven",
                     "make \xff",
                     "..all"}};
  std::string line = to_line(ControlAnswer{.status = status});
  EXPECT_THAT(line, HasSubstr(R"("schema":"plimsoll.control/1","ok":true,"status":{"run":)"));
  EXPECT_THAT(line, HasSubstr(R"("state":"paused")"));
  EXPECT_THAT(line, HasSubstr(R"("cores_used":1.25,"cores_wanted":3.5,"cores_of_others":1.75,)"));
  EXPECT_THAT(line, HasSubstr(R"("stall":{"cpu_some":0.5,"memory_full":0.25},)"));
  EXPECT_THAT(line, HasSubstr(R"("growth_bytes_per_second":1048576,"io_bytes":3145728,)"
                              R"("paused_for":"cores","reason":"the cores are busy")"));
  line.pop_back();
  const auto answer = parse_answer(line);
  ASSERT_TRUE(answer && answer->status);
  EXPECT_EQ(answer->status->running[0].command, "make \xef\xbf\xbd");
  EXPECT_EQ(answer->status->holding->numbers, status.holding->numbers);
  EXPECT_EQ(to_line(*answer), line + "\n");
}

TEST(Answer, OfAnErrorTellsIt) {
  const auto answer = parse_answer(R"({"ok":false,"error":"no job \"x\""})");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->error, "no job \"x\"");
  EXPECT_EQ(parse_answer(R"({"ok":false})")->error, "no reason was given");
  EXPECT_EQ(parse_answer(R"({"ok":true,"line_bytes":5})")->line, Bytes{5});
}

TEST(Answer, OfStrangersIsTakenAsFarAsItGoes) {
  for (const char* line : {"", "{}", "[1]", R"({"ok":1})"})
    EXPECT_FALSE(parse_answer(line)) << line;
  const auto answer = parse_answer(
      R"({"ok":true,"status":{"run":5,"jobs":[],"running":[1,{"job":{},"ran_ns":-1},null],)"
      R"("elapsed_ns":18446744073709551615,"holding":{"numbers":{"a":"b"}},"cores":"many"}})");
  ASSERT_TRUE(answer && answer->status);
  EXPECT_EQ(answer->status->running.size(), 3u);
  EXPECT_EQ(answer->status->elapsed, Duration{});
  EXPECT_TRUE(parse_answer(R"({"ok":true,"status":7})")->status);
}

}  // namespace
}  // namespace plimsoll::supervisor

#include "page/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

#include "analysis/job_row.h"
#include "page/document.h"
#include "report/json_text.h"

namespace plimsoll::page {
namespace {

using namespace std::chrono_literals;
using namespace plimsoll::literals;
using policy::EventKind;
using report::Json;
using report::RecordedEvent;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::string_view kLink =
    R"({"schema":"plimsoll.job/1","id":"link","class":"ld","shell":"echo </script><img>",)"
    R"("outcome":"exited","exit_code":0,"attempts":[)"
    R"({"outcome":"evicted","started_unix_ns":1,"wall_ns":2000000000,)"
    R"("cpu_usage_ns":1000000000,"peak_bytes":1048576},)"
    R"({"outcome":"exited","started_unix_ns":5000000000,"wall_ns":4000000000,)"
    R"("peak_bytes":3145728}],"times":{"held_ns":7000000000,"paused_ns":0},)"
    R"("memory":{"max_bytes":4194304},"samples":[)"
    R"({"t_ns":0,"used_bytes":0,"cpu_usage_ns":0},)"
    R"({"t_ns":2000000000,"used_bytes":3145728,"cpu_usage_ns":1500000000},)"
    R"({"t_ns":1000000000,"used_bytes":1}],"host":{"hostname":"node","cpus":8}})";

std::vector<RecordedEvent> some_events() {
  return {
      {.t = 0s, .kind = EventKind::queued, .job = "link", .number = 2},
      {.t = 0s, .kind = EventKind::queued, .job = "first", .number = 1},
      {.t = 1s,
       .kind = EventKind::held,
       .job = "link",
       .number = 2,
       .reason = "needs 3.5 MiB",
       .numbers = {{"line_bytes", 4194304}}},
      {.t = 2s, .kind = EventKind::started, .job = "link", .number = 2},
      {.t = 4s, .kind = EventKind::requeued, .job = "link", .number = 2},
      {.t = 5s, .kind = EventKind::started, .job = "first", .number = 1},
      {.t = 6s, .kind = EventKind::started, .job = "link", .number = 2},
      {.t = 10s, .kind = EventKind::ended, .job = "link", .number = 2},
  };
}

Record some_record(std::string_view summary = {}) {
  report::RunEntry entry{.id = "20240101-1", .path = "/runs/1", .state = report::RunState::died};
  entry.meta.jobs = 2;
  entry.meta.line = 4_MiB;
  return parse_record(std::move(entry), some_events(), std::string(kLink) + "\n{\"schema\":\"pli",
                      summary);
}

Json document(const Record& record) {
  return Json::parse(document_of({.runs = {{.record = record}}}))["runs"][0];
}

TEST(Record, DerivesTheClassOfAJobWithoutOne) {
  const Record record = parse_record(
      report::RunEntry{.id = "1"}, {},
      R"({"schema":"plimsoll.job/1","id":"1","shell":"cc -c a.c","outcome":"exited"})", {});
  ASSERT_THAT(record.jobs, SizeIs(1));
  EXPECT_THAT(record.jobs[0].job_class, Not(IsEmpty()));
  EXPECT_EQ(record.jobs[0].job_class, analysis::class_of("", policy::Command("cc -c a.c")));
}

TEST(Record, JoinsReportsWithEvents) {
  const Record record = some_record();
  ASSERT_THAT(record.jobs, SizeIs(2));
  EXPECT_EQ(record.jobs[0].id, "first");
  EXPECT_EQ(record.jobs[0].outcome, "");
  ASSERT_THAT(record.jobs[0].attempts, SizeIs(1));
  EXPECT_EQ(record.jobs[0].attempts[0].start, 5s);
  EXPECT_FALSE(record.jobs[0].attempts[0].wall);
  const Job& link = record.jobs[1];
  ASSERT_THAT(link.attempts, SizeIs(2));
  EXPECT_EQ(link.attempts[0].outcome, "evicted");
  EXPECT_EQ(link.attempts[0].start, 2s);  // the events' clock does not step
  EXPECT_EQ(link.attempts[1].start, 6s);
  EXPECT_EQ(link.held, 7s);
  EXPECT_EQ(link.limit, 4_MiB);
  ASSERT_THAT(link.curve, SizeIs(2));  // a sample out of order is none
  EXPECT_EQ(link.curve[1].used, 3_MiB);
  EXPECT_EQ(record.host->name, "node");
}

TEST(Record, TakesStartsFromReportsIfEventsAreMissing) {
  report::RunEntry entry{.id = "1"};
  entry.meta.started = WallTime(2s);
  const Record record = parse_record(std::move(entry), {}, kLink, {});
  ASSERT_THAT(record.jobs, SizeIs(1));
  EXPECT_EQ(record.jobs[0].attempts[0].start, 0s);  // it says that it began before the run
  EXPECT_EQ(record.jobs[0].attempts[1].start, 3s);
}

TEST(Record, HasTheMachineOfTheSummary) {
  const Record record = some_record(
      R"({"schema":"plimsoll.run/1","oom_kills":3,"cores_of_others":0.5,"system_samples":[)"
      R"({"t_ns":1000000000,"cpu":{"user_ns":10,"nice_ns":1,"system_ns":2,"idle_ns":30,)"
      R"("iowait_ns":4,"irq_ns":0,"softirq_ns":0,"steal_ns":0,"guest_ns":5,"guest_nice_ns":0},)"
      R"("pressure":{"memory":{"some_ns":7}}}]})");
  EXPECT_EQ(record.oom_kills, 3U);
  ASSERT_THAT(record.system, SizeIs(1));
  EXPECT_EQ(record.system[0].t, 1s);
  EXPECT_EQ(record.system[0].busy, 13ns);
  EXPECT_EQ(record.system[0].idle, 34ns);
  EXPECT_EQ(record.system[0].memory_stall, 7ns);
  EXPECT_FALSE(record.system[0].io_stall);
}

TEST(Document, HasTheRunInColumns) {
  const Json json = document(some_record());
  EXPECT_EQ(json["tick_ns"], 10'000);
  EXPECT_EQ(json["run"]["state"], "died");
  EXPECT_EQ(json["run"]["end_ns"], 10'000'000'000);
  EXPECT_THAT(json["jobs"]["id"], ElementsAre("first", "link"));
  EXPECT_THAT(json["classes"], ElementsAre("", "ld"));
  EXPECT_THAT(json["attempts"]["job"], ElementsAre(1, -1, 1));
  EXPECT_THAT(json["attempts"]["index"], ElementsAre(0, 0, 1));
  EXPECT_THAT(json["attempts"]["start"], ElementsAre(200'000, 300'000, 100'000));
  EXPECT_EQ(json["attempts"]["wall"].dump(), "[200000,null,200000]");
  EXPECT_THAT(json["attempts"]["lane"], ElementsAre(0, 0, 1));
  EXPECT_THAT(json["attempts"]["bad"], ElementsAre(1, 0, 0));
  EXPECT_EQ(json["lanes"], 2);
  EXPECT_THAT(json["curves"]["points"], ElementsAre(0, 2));
  EXPECT_THAT(json["curves"]["used"], ElementsAre(0, 3072));
}

TEST(Document, KeepsEachSentenceOnceAndItsNumbersBeside) {
  const Json json = document(some_record());
  EXPECT_THAT(json["frames"], ElementsAre("", "needs \n MiB"));
  EXPECT_EQ(json["events"]["words"], "3.5 ");
  EXPECT_EQ(json["events"]["values"], "4.194e+06 ");
  EXPECT_EQ(json["numbers"][0]["label"], "line");
  EXPECT_THAT(json["events"]["t"], SizeIs(8));
}

TEST(Document, OfARunWithoutAJobIsWhole) {
  const Json json = document(parse_record({.id = "1"}, {}, {}, {}));
  EXPECT_THAT(json["jobs"]["id"], IsEmpty());
  EXPECT_EQ(json["run"]["end_ns"], 0);
}

TEST(Document, HasTwoRunsAndHowTheyCompare) {
  const Json json = Json::parse(
      document_of({.runs = {{.record = some_record()}, {.record = some_record()}},
                   .comparison = R"({"schema":"plimsoll.comparison/1","before":"a"})"}));
  EXPECT_EQ(json["schema"], "plimsoll.page/1");
  EXPECT_THAT(json["runs"], SizeIs(2));
  EXPECT_EQ(json["comparison"]["before"], "a");
  EXPECT_FALSE(
      Json::parse(document_of({.runs = {{.record = some_record()}}})).contains("comparison"));
}

TEST(Document, HasWhatWasReckonedOfARunBesideIt) {
  const Contents contents{.runs = {{.record = some_record(),
                                    .advice = R"({"schema":"plimsoll.advice/1","classes":[]})",
                                    .whatif = R"({"schema":"plimsoll.whatif/1","jobs":2})"}}};
  const Json run = Json::parse(document_of(contents))["runs"][0];
  EXPECT_TRUE(run["advice"]["classes"].is_array());
  EXPECT_EQ(run["whatif"]["jobs"], 2);
  EXPECT_FALSE(document(some_record()).contains("whatif"));
}

TEST(Document, BoundsItsCurvesAndKeepsTheirPeak) {
  Record record;
  record.jobs.resize(1000);
  for (Job& job : record.jobs) {
    for (int i = 0; i < 500; ++i) {
      job.curve.push_back({.t = i * 1s, .used = Bytes{i == 250 ? 1_GiB : 1_MiB}});
    }
  }
  const Json json = document(record);
  EXPECT_LE(json["curves"]["t"].size(), kCurvePointsMax);
  std::int64_t used = 0, most = 0;
  for (const Json& step : json["curves"]["used"]) most = std::max(most, used += step.get<int>());
  EXPECT_EQ(most, 1 << 20);
}

std::string unpacked(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); at += 4) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t digit = kDigits.find(text[at + i]);
      bits = bits << 6 | static_cast<std::uint32_t>(text[at + i] == '=' ? 0 : digit);
    }
    const std::size_t padding = text[at + 3] != '=' ? 0 : text[at + 2] != '=' ? 1 : 2;
    for (std::size_t i = 0; i < 3 - padding; ++i) {
      bytes += static_cast<char>(bits >> (16 - 8 * i) & 255U);
    }
  }
  z_stream stream{};
  std::string out(1 << 22, '\0');
  EXPECT_EQ(::inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  ::inflateEnd(&stream);
  return out;
}

TEST(Packed, IsGzipInBase64) {
  for (const std::size_t size : {0U, 1U, 2U, 3U, 1'000'000U}) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) text += static_cast<char>(i * i >> 3);
    EXPECT_EQ(unpacked(packed(text)), text) << size;
  }
}

TEST(Page, HasTheRunAndNothingOfItAsMarkup) {
  const Contents contents{.runs = {{.record = some_record()}}};
  const std::string page = page_of(contents);
  const std::string start = R"(<script id="run" type="text/plain">)";
  const std::size_t from = page.find(start) + start.size();
  const std::string data = page.substr(from, page.find("</script>", from) - from);
  EXPECT_EQ(unpacked(data), document_of(contents));
  EXPECT_THAT(document_of(contents), HasSubstr("</script><img>"));
  EXPECT_THAT(page, Not(HasSubstr("</script><img>")));
  EXPECT_THAT(page, Not(HasSubstr("@PLIMSOLL_RUN@")));
}

TEST(Page, MayLoadNothing) {
  const std::string_view page = page_template();
  EXPECT_THAT(page, HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(page, Not(HasSubstr("unsafe-inline")));
  EXPECT_THAT(page, Not(HasSubstr("src=\"http")));
  EXPECT_THAT(page, HasSubstr("The MIT License"));
}

}  // namespace
}  // namespace plimsoll::page

#include "store/runs/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "runs.h"

namespace plimsoll::report {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::Optional;
using ::testing::Pair;
using ::testing::SizeIs;

RecordedEvent full_event() {
  return {.t = 1500ms,
          .kind = policy::EventKind::frozen,
          .job = "link",
          .number = 7,
          .reason = "it grows too fast",
          .numbers = {{"used_bytes", 1024.0}, {"share", 0.5}}};
}

TEST(EventLog, WritesTheFormat) {
  EXPECT_EQ(to_json(full_event()),
            R"({"schema":"plimsoll.event/1","t_ns":1500000000,"kind":"frozen","job":"link",)"
            R"("number":7,"reason":"it grows too fast","numbers":{"used_bytes":1024,"share":0.5}})"
            "\n");
  EXPECT_EQ(to_json(RecordedEvent{.kind = policy::EventKind::line}),
            R"({"schema":"plimsoll.event/1","t_ns":0,"kind":"line"})"
            "\n");
}

TEST(EventLog, ReadsWhatItWrote) {
  EXPECT_THAT(parse_event(to_json(full_event())), Optional(full_event()));
}

TEST(EventLog, WhatJsonHasNoWordForIsLeftOut) {
  RecordedEvent odd = full_event();
  odd.numbers = {{"a", std::nan("")}, {"b", INFINITY}, {"c", 1e300}, {"d", -3}};
  odd.reason = "bad \xff byte";
  const auto read = parse_event(to_json(odd));
  ASSERT_TRUE(read);
  EXPECT_THAT(read->numbers, ElementsAre(Pair("c", 1e300), Pair("d", -3)));
  EXPECT_EQ(read->reason, "bad \xEF\xBF\xBD byte");
}

TEST(EventLog, UnknownKeysArePassedOver) {
  const auto read = parse_event(R"({"schema":"plimsoll.event/1","t_ns":5,"kind":"held","new":[1],)"
                                R"("numbers":{"x":"y","z":2}})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->kind, policy::EventKind::held);
  EXPECT_EQ(read->job, "");
  EXPECT_THAT(read->numbers, ElementsAre(Pair("z", 2.0)));
}

TEST(EventLog, OtherLinesAreNone) {
  for (const char* line : {"", "{", "[]", "null", "3", R"({"t_ns":5,"kind":"held"})",
                           R"({"schema":"plimsoll.event/2","t_ns":5,"kind":"held"})",
                           R"({"schema":"plimsoll.event/1","t_ns":5,"kind":"heldd"})",
                           R"({"schema":"plimsoll.event/1","t_ns":"5","kind":"held"})",
                           R"({"schema":"plimsoll.event/1","t_ns":1.5,"kind":"held"})",
                           R"({"schema":"plimsoll.event/1","kind":"held"})",
                           R"({"schema":"plimsoll.event/1","t_ns":5,"kind":3})",
                           R"({"schema":"plimsoll.event/1","t_ns":5,"kind":"he)"}) {
    EXPECT_EQ(parse_event(line), std::nullopt) << line;
  }
}

TEST(EventLog, JobsHaveTheIdsOfTheirReports) {
  policy::Event event{.at = Instant(12s),
                      .kind = policy::EventKind::admitted,
                      .job = JobId{3},
                      .reason = "it fits",
                      .numbers = {{"mean_bytes", 5.0}}};
  const RecordedEvent plain = recorded(event, Instant(10s), {});
  EXPECT_EQ(plain.t, 2s);
  EXPECT_EQ(plain.job, "3");
  EXPECT_EQ(plain.number, 3U);
  EXPECT_THAT(plain.numbers, ElementsAre(Pair("mean_bytes", 5.0)));
  EXPECT_EQ(recorded(event, Instant(10s), {{JobId{3}, "link"}}).job, "link");
  event.job.reset();
  EXPECT_EQ(recorded(event, Instant(10s), {}).number, std::nullopt);
}

TEST(EventLog, ATornLineIsPassedOver) {
  const RunsPlace place;
  const std::string line = to_json(full_event());
  place.make("r/events.jsonl", line + "garbage\n" + line + line.substr(0, line.size() / 2));
  const auto events = read_events(place.runs() + "/r/events.jsonl");
  ASSERT_TRUE(events);
  EXPECT_THAT(*events, SizeIs(2));
  EXPECT_FALSE(read_events(place.runs() + "/none"));
}

TEST(EventLog, FindsAReport) {
  const RunsPlace place;
  const std::string start = R"({"schema":"plimsoll.job/1","id":)";
  place.make("r/jobs.jsonl", start + R"("1","outcome":"exited"})" + "\n" + start +
                                 R"("a\"b","outcome":"evicted"})" + "\n" + start +
                                 R"("torn","outc)");
  const std::string path = place.runs() + "/r/jobs.jsonl";
  EXPECT_THAT(*find_report(path, "a\"b"), Optional(::testing::HasSubstr("evicted")));
  EXPECT_EQ(*find_report(path, "2"), std::nullopt);
  EXPECT_EQ(*find_report(path, "torn"), std::nullopt);
}

TEST(EventLog, ReadsWholeReports) {
  const RunsPlace place;
  const std::string first = R"({"schema":"plimsoll.job/1","id":"1"})"
                            "\n";
  const std::string second = R"({"schema":"plimsoll.job/1","id":"2"})"
                             "\n";
  place.make("r/jobs.jsonl", first + "{}\n" + second + R"({"schema":"plimsoll.job/1","id":)");
  EXPECT_THAT(*read_reports(place.runs() + "/r/jobs.jsonl"), ElementsAre(first, second));
  EXPECT_FALSE(read_reports(place.runs() + "/none"));
}

}  // namespace
}  // namespace plimsoll::report

#include "daemon/api/governor_session.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <map>

#include "daemon/api/governor_messages.h"
#include "daemon/api/governor_streams.h"

namespace plimsoll::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

// Messages as their text, in one line.
std::string text_of(const v1::GovernResponse& message) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  std::string text;
  printer.PrintToString(message, &text);
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

// A client that keeps what it was sent.
struct FakeStream : StreamClient {
  explicit FakeStream(std::vector<std::string>& journal) : heard(journal) {}
  void send(const v1::GovernResponse& response) override {
    last = response;
    heard.push_back(text_of(response));
  }
  void too_many(const Error& error) override { heard.push_back("too many: " + error.what); }
  void ends() override { heard.emplace_back("ends"); }
  std::vector<std::string>& heard;
  v1::GovernResponse last;
};

// A stream whose scheduler admits when the story says so.
struct GovernorSessionTest : ::testing::Test, supervisor::ExternalJobsHost {
  [[nodiscard]] Instant now() const override { return at; }
  JobId next_id() override { return JobId{++last}; }
  void enter(const policy::JobSpec& job) override { entered[job.name] = job; }
  void on_sampled(JobId, const policy::JobSample& sample) override { seen.push_back(sample); }
  void on_attempt_over(JobId job, const policy::AttemptEnd& end) override {
    ends.push_back(end);
    external_jobs.on_job_over({.job = job, .end = end, .requeue = {}, .reason = "over"});
  }
  void withdraw(JobId job, const std::string& reason) override {
    external_jobs.on_job_over({.job = job, .end = {}, .requeue = {}, .reason = reason});
  }
  void cancel(JobId job, const std::string& reason) override {
    external_jobs.kill(job, policy::Outcome::cancelled, reason);
  }
  Result<std::unique_ptr<supervisor::ExternalProcessSet>> open_place(
      const supervisor::ExternalLocation&, const supervisor::Peer&) override {
    return fail(std::errc::permission_denied, "not the peer's");
  }

  void say(const std::string& text) {
    v1::GovernRequest request;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &request)) << text;
    session->receive(request);
  }

  void admit(const std::string& name) {
    const JobId job = entered.at(name).id;
    external_jobs.on_event(
        {.at = at, .kind = policy::EventKind::admitted, .job = job, .reason = "it fits"});
    external_jobs.start({.job = job, .attempt = 1, .slot = 1});
  }

  Instant at{100s};
  std::uint64_t last = 0;
  std::map<std::string, policy::JobSpec> entered;
  std::vector<policy::JobSample> seen;
  std::vector<policy::AttemptEnd> ends;
  std::vector<std::string> heard;
  supervisor::ExternalJobs external_jobs{*this};
  FakeStream stream{heard};
  std::unique_ptr<GovernorSession> session =
      std::make_unique<GovernorSession>(external_jobs, supervisor::Peer{}, stream);
};

TEST_F(GovernorSessionTest, AJobFromEnterToLeave) {
  say(R"(enter { id: "a" class: "cc" priority: -3
                 hints { memory_bytes: 4096 cores: 1.5 disk_bytes: 8192 } })");
  EXPECT_EQ(entered.at("a").memory_hint, Bytes{4096});
  EXPECT_EQ(entered.at("a").disk_hint, Bytes{8192});
  EXPECT_EQ(entered.at("a").cpu_hint, 1.5);
  EXPECT_EQ(entered.at("a").priority, -3);
  EXPECT_EQ(entered.at("a").job_class, "cc");
  EXPECT_FALSE(entered.at("a").restartable);
  EXPECT_THAT(heard, IsEmpty());
  admit("a");
  at += 1s;
  say(R"(observe { id: "a" used_bytes: 100 cpu { seconds: 1 nanos: 5 } })");
  EXPECT_EQ(seen.back().used, Bytes{100});
  EXPECT_EQ(seen.back().cpu, 1s + 5ns);
  say(R"(leave { id: "a" exit_code: 3 })");
  EXPECT_THAT(heard, ElementsAre(R"(admit { id: "a" attempt: 1 reason: "it fits" })",
                                 R"(left { id: "a" reason: "over" })"));
  EXPECT_EQ(ends.back().exit_code, 3);
}

TEST_F(GovernorSessionTest, DecisionsReachTheClient) {
  say(R"(enter { id: "a" restartable: true })");
  const JobId job = entered.at("a").id;
  external_jobs.on_event({.at = at,
                          .kind = policy::EventKind::held,
                          .job = job,
                          .reason = "no room",
                          .hold = policy::HoldCause::memory});
  admit("a");
  external_jobs.on_event(
      {.at = at, .kind = policy::EventKind::frozen, .job = job, .reason = "short"});
  external_jobs.freeze(job);
  external_jobs.on_event(
      {.at = at, .kind = policy::EventKind::thawed, .job = job, .reason = "room"});
  external_jobs.thaw(job);
  external_jobs.kill(job, policy::Outcome::evicted, "shorter");
  say(R"(leave { id: "a" end: END_CANCELLED })");
  EXPECT_THAT(
      heard,
      ElementsAre(R"(hold { id: "a" cause: "memory" reason: "no room" })",
                  R"(admit { id: "a" attempt: 1 reason: "it fits" })",
                  R"(pause { id: "a" reason: "short" })", R"(resume { id: "a" reason: "room" })",
                  R"(cancel { id: "a" cause: CANCEL_CAUSE_EVICTED reason: "shorter" )"
                  R"(comes_again: true })",
                  R"(left { id: "a" reason: "over" })"));
  EXPECT_EQ(ends.back().outcome, policy::Outcome::evicted);
}

TEST_F(GovernorSessionTest, MistakesAreRefusedAndTheStreamGoesOn) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "code: 3 message: \"found an unknown message"},
      {"enter { }", "code: 3 message: \"found an id of 0 bytes, expected 1 to 256\""},
      {"enter { id: \"a\" priority: 1001 }", "id: \"a\" code: 3 message: \"priority: found 1001"},
      {"enter { id: \"a\" priority: -2147483648 }", "priority: found -2147483648"},
      {"enter { id: \"a\" hints { cores: nan } }", "code: 3 message: \"hints.cores: found nan"},
      {"enter { id: \"a\" hints { cores: -1 } }", "code: 3 message: \"hints.cores: found -1"},
      {"enter { id: \"a\" place { } }", "code: 3 message: \"place: found neither"},
      {"enter { id: \"a\" hand: HAND_GOVERNOR }", "code: 3 message: \"found no place, expected"},
      {"enter { id: \"a\" place { pid: 7 } }", "code: 7 message: \"not the peer\\'s"},
      {"observe { id: \"a\" }", "id: \"a\" code: 5 message: \"found no job"},
      {"observe { id: \"a\" cpu { seconds: -1 } }", "code: 3 message: \"cpu: found -1 s"},
      {"watch { id: \"a\" }", "code: 3 message: \"place: found neither"},
      {"leave { id: \"a\" exit_code: 256 }", "code: 3 message: \"exit_code: found 256"},
      {"leave { id: \"a\" end: END_SIGNALLED }", "code: 3 message: \"signal: found 0"},
      {"leave { id: \"a\" }", "code: 5 message: \"found no job"},
  };
  for (const auto& [request, answer] : cases) {
    heard.clear();
    say(request);
    ASSERT_EQ(heard.size(), 1u) << request;
    EXPECT_THAT(heard.front(), HasSubstr(answer)) << request;
  }
  say("enter { id: \"a\" }");
  say("enter { id: \"a\" }");
  EXPECT_THAT(heard.back(), HasSubstr("refused { id: \"a\" code: 6 "));
  say("observe { id: \"a\" used_bytes: 1 }");
  EXPECT_THAT(heard.back(), HasSubstr("refused { id: \"a\" code: 9 "));
}

TEST_F(GovernorSessionTest, AnIdThatIsTooLongIsShownInWholeCharacters) {
  std::string id = "a";
  for (int i = 0; i < 200; ++i) id += "\u00fc";  // the 256th byte is the first half of one
  v1::GovernRequest request;
  request.mutable_enter()->set_id(id);
  session->receive(request);
  EXPECT_EQ(stream.last.refused().id(), id.substr(0, 255));
}

TEST_F(GovernorSessionTest, NobodyComesBeforeOthersWithoutTheRight) {
  const auto of = [this](const supervisor::Peer& peer) {
    return std::make_unique<GovernorSession>(external_jobs, peer, stream);
  };
  const auto enter = [](GovernorSession& who, const std::string& id, int priority,
                        std::uint32_t weight) {
    v1::GovernRequest request;
    request.mutable_enter()->set_id(id);
    request.mutable_enter()->set_priority(priority);
    request.mutable_enter()->set_weight(weight);
    who.receive(request);
  };
  constexpr std::uint32_t kSomebody = 65'534;
  const auto somebody = of({.uid = kSomebody});
  enter(*somebody, "a", 1, 0);
  EXPECT_THAT(heard.back(), HasSubstr("code: 7 message: \"priority: found 1, expected at most 0"));
  enter(*somebody, "a", 0, 101);
  EXPECT_THAT(heard.back(),
              HasSubstr("code: 7 message: \"weight: found 101, expected at most 100"));
  const auto afar = of({.where = supervisor::PeerPlace::remote});
  enter(*afar, "a", 1, 0);
  EXPECT_THAT(heard.back(), HasSubstr("code: 7 "));
  EXPECT_THAT(entered, IsEmpty());
  heard.clear();
  enter(*somebody, "b", -1, 100);
  enter(*of({.uid = 0}), "c", 1000, 10'000);
  EXPECT_THAT(heard, IsEmpty());
  EXPECT_EQ(entered.size(), 2u);
}

TEST_F(GovernorSessionTest, OneUsersStreamsAreCounted) {
  GovernorStreams streams(external_jobs);
  std::uint64_t number = 0;
  const auto client = std::make_shared<FakeStream>(heard);
  const auto open = [&](std::uint32_t uid) {
    const std::size_t before = streams.size();
    streams.open(StreamId{++number}, {.uid = uid}, client);
    return streams.size() > before;
  };
  for (std::size_t i = 0; i < GovernorStreams::kOfUserMax; ++i) ASSERT_TRUE(open(7));
  EXPECT_FALSE(open(7));
  EXPECT_THAT(heard, ElementsAre(HasSubstr("too many: found 200 streams of this user")));
  EXPECT_TRUE(open(8));
  streams.close(StreamId{1});
  EXPECT_TRUE(open(7));
  std::uint32_t uid = 8;
  while (open(uid) || open(++uid)) continue;
  EXPECT_TRUE(open(0));
}

TEST_F(GovernorSessionTest, AStreamThatIsClosedIsHeardNoMore) {
  GovernorStreams streams(external_jobs);
  const auto client = std::make_shared<FakeStream>(heard);
  v1::GovernRequest request;
  request.mutable_enter()->set_id("a");
  streams.open(StreamId{1}, {}, client);
  streams.receive(StreamId{1}, request);
  admit("a");
  heard.clear();
  streams.close(StreamId{1});
  EXPECT_EQ(external_jobs.size(), 0u);
  EXPECT_EQ(ends.back().outcome, policy::Outcome::cancelled);
  // What was on its way, and a second end.
  streams.receive(StreamId{1}, request);
  streams.close(StreamId{1});
  EXPECT_EQ(external_jobs.size(), 0u);
  EXPECT_THAT(heard, IsEmpty());
}

TEST_F(GovernorSessionTest, TheEndOfAllStreamsIsToldToEach) {
  auto streams = std::make_unique<GovernorStreams>(external_jobs);
  const auto client = std::make_shared<FakeStream>(heard);
  streams->open(StreamId{1}, {}, client);
  streams->open(StreamId{2}, {}, client);
  v1::GovernRequest request;
  request.mutable_enter()->set_id("a");
  streams->receive(StreamId{2}, request);
  admit("a");
  heard.clear();
  streams.reset();
  EXPECT_THAT(heard, ElementsAre("ends", "ends"));
  EXPECT_EQ(external_jobs.size(), 0u);
}

TEST_F(GovernorSessionTest, WhileTheDaemonEndsNoJobIsTaken) {
  say(R"(enter { id: "a" })");
  say(R"(enter { id: "b" })");
  admit("a");
  heard.clear();
  external_jobs.drain();
  EXPECT_THAT(heard, ElementsAre(HasSubstr("left { id: \"b\"")));
  say(R"(enter { id: "c" })");
  EXPECT_THAT(heard.back(), HasSubstr("refused { id: \"c\" code: 14 "));
  say(R"(leave { id: "a" })");
  EXPECT_EQ(external_jobs.size(), 0u);
}

TEST_F(GovernorSessionTest, AnEnumThatIsNotKnownIsRefused) {
  v1::GovernRequest request;
  request.mutable_leave()->set_id("a");
  request.mutable_leave()->set_end(static_cast<v1::End>(77));
  session->receive(request);
  EXPECT_THAT(heard.back(), HasSubstr("code: 3 message: \"end: found 77"));
}

TEST_F(GovernorSessionTest, WhoGoesAwayTakesItsJobsAlong) {
  say("enter { id: \"runs\" }");
  say("enter { id: \"waits\" }");
  admit("runs");
  heard.clear();
  session.reset();
  EXPECT_EQ(external_jobs.size(), 0u);
  EXPECT_EQ(ends.back().outcome, policy::Outcome::cancelled);
  EXPECT_THAT(heard, IsEmpty());
}

}  // namespace
}  // namespace plimsoll::daemon

#include "engine/guests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace plimsoll::engine {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using namespace literals;
using namespace std::chrono_literals;

// A place that does as it is told.
struct ModelHabitat : Habitat {
  explicit ModelHabitat(std::vector<std::string>& journal) : log(journal) {}
  ~ModelHabitat() override { log.push_back("place closed"); }
  ModelHabitat(const ModelHabitat&) = delete;
  ModelHabitat& operator=(const ModelHabitat&) = delete;
  GuestSample look(Instant) override { return {.used = 70_MiB, .cpu = 3s, .io = {}}; }
  void weigh(unsigned weight) override { log.push_back("place weighs " + std::to_string(weight)); }
  void freeze() override { log.push_back("place frozen"); }
  void thaw() override { log.push_back("place thawed"); }
  void kill(Instant) override { log.push_back("place killed"); }
  std::vector<std::string>& log;
};

// Guests with a conductor that keeps a list: what was asked of it is in `asked`, what clients were
// told in `told`.
struct GuestsTest : ::testing::Test {
  GuestHooks hooks() {
    return {.now = [this] { return now; },
            .next_id = [this] { return JobId{++last}; },
            .enter = [this](const policy::JobSpec& job) { entered.push_back(job); },
            .seen = [this](JobId, const policy::JobSample& sample) { samples.push_back(sample); },
            .over =
                [this](JobId job, const policy::AttemptEnd& end) {
                  asked.push_back("over " + std::string(name_of(end.outcome)));
                  ends.push_back(end);
                  JobOver over{.job = job, .end = end, .requeue = {}, .reason = "over"};
                  if (again.contains(job)) over.requeue = policy::Requeue{};
                  guests.on_conducted(over);
                },
            .withdraw =
                [this](JobId job, const std::string& reason) {
                  asked.push_back("withdraw: " + reason);
                  guests.on_conducted({.job = job, .end = {}, .requeue = {}, .reason = reason});
                },
            .cancel =
                [this](JobId job, const std::string& reason) {
                  guests.kill(job, policy::Outcome::cancelled, reason);
                },
            .open_place = [this](const GuestPlace&,
                                 const Peer& peer) -> Result<std::unique_ptr<Habitat>> {
              if (peer.uid != 0) return fail(std::errc::permission_denied, "not the peer's");
              return std::make_unique<ModelHabitat>(told);
            }};
  }

  GuestListener listener() {
    return {.admit = [this](const std::string& name, unsigned attempt,
                            const std::string&) { tell("admit", name, std::to_string(attempt)); },
            .hold = [this](const std::string& name, policy::HoldCause cause,
                           const std::string&) { tell("hold", name, policy::name_of(cause)); },
            .pause = [this](const std::string& name,
                            const std::string& reason) { tell("pause", name, reason); },
            .resume = [this](const std::string& name,
                             const std::string& reason) { tell("resume", name, reason); },
            .cancel =
                [this](const std::string& name, policy::Outcome cause, const std::string&,
                       Again later) {
                  tell("cancel", name, name_of(cause));
                  if (later == Again::later) told.back() += ", again";
                },
            .left =
                [this](const std::string& name, Again later, const std::string&) {
                  tell("left", name, later == Again::later ? "again" : "for good");
                }};
  }

  void tell(const std::string& what, const std::string& name, std::string_view more) {
    told.push_back(what + " " + name + ": " + std::string(more));
  }

  JobId enter(const std::string& name, GuestSpec spec = {}) {
    spec.name = name;
    const auto entered_it = guests.enter(client, spec);
    EXPECT_TRUE(entered_it) << entered_it.error().message();
    return entered.empty() ? JobId{} : entered.back().id;
  }

  JobId run(const std::string& name, const GuestSpec& spec = {}) {
    const JobId job = enter(name, spec);
    guests.start({.job = job, .attempt = 1, .slot = 1});
    told.clear();
    return job;
  }

  void decide(policy::EventKind kind, JobId job, const std::string& reason) {
    guests.on_event({.at = now, .kind = kind, .job = job, .reason = reason});
  }

  Instant now{100s};
  std::uint64_t last = 0;
  std::vector<policy::JobSpec> entered;
  std::vector<policy::JobSample> samples;
  std::vector<policy::AttemptEnd> ends;
  std::vector<std::string> asked, told;
  std::set<JobId> again;  // that get another attempt
  Guests guests{hooks()};
  ClientId client = guests.open({.uid = 0}, listener());
};

TEST_F(GuestsTest, AGuestLivesFromEnterToLeave) {
  const JobId job = enter("a", {.job_class = "cc", .memory_max = 1_GiB, .cpu_hint = 2});
  EXPECT_EQ(entered.back().job_class, "cc");
  EXPECT_EQ(entered.back().memory_hint, 1_GiB);  // for want of a better guess
  EXPECT_EQ(entered.back().cpu_hint, 2);
  decide(policy::EventKind::admitted, job, "fits");
  guests.start({.job = job, .attempt = 1, .slot = 1});
  now += 2s;
  ASSERT_TRUE(guests.observe(client, "a", {.used = 10_MiB, .cpu = 1s, .io = {}}));
  EXPECT_EQ(samples.back().ran, 2s);
  EXPECT_EQ(samples.back().used, 10_MiB);
  ASSERT_TRUE(guests.leave(client, "a", {.outcome = policy::Outcome::exited, .exit_code = 0}));
  EXPECT_THAT(told, ElementsAre("admit a: 1", "left a: for good"));
  EXPECT_EQ(ends.back().wall, 2s);
  EXPECT_EQ(guests.size(), 0u);
  EXPECT_EQ(guests.running(), 0u);
  enter("a");  // the name is free
}

TEST_F(GuestsTest, HoldsAreToldWithTheirCause) {
  const JobId job = enter("a");
  guests.on_event({.at = now,
                   .kind = policy::EventKind::held,
                   .job = job,
                   .reason = "no room",
                   .hold = policy::HoldCause::memory});
  EXPECT_THAT(told, ElementsAre("hold a: memory"));
}

TEST_F(GuestsTest, PausedTimeDoesNotCountAndPausedGuestsAreNotSeen) {
  const JobId job = run("a");
  now += 1s;
  decide(policy::EventKind::frozen, job, "short");
  guests.freeze(job);
  now += 10s;
  ASSERT_TRUE(guests.observe(client, "a", {.used = 1_MiB, .cpu = {}, .io = {}}));
  EXPECT_THAT(samples, IsEmpty());
  decide(policy::EventKind::thawed, job, "room");
  guests.thaw(job);
  now += 1s;
  ASSERT_TRUE(guests.observe(client, "a", {.used = 1_MiB, .cpu = {}, .io = {}}));
  EXPECT_EQ(samples.back().ran, 2s);
  EXPECT_THAT(told, ElementsAre("pause a: short", "resume a: room"));
}

TEST_F(GuestsTest, AnEvictedGuestThatMayRestartComesAgain) {
  const JobId job = run("a", {.restartable = true});
  again = {job};
  guests.kill(job, policy::Outcome::evicted, "memory is short");
  ASSERT_TRUE(guests.leave(client, "a", {.outcome = policy::Outcome::cancelled}));
  EXPECT_THAT(asked, ElementsAre("over evicted"));
  EXPECT_THAT(told, ElementsAre("cancel a: evicted, again", "left a: again"));
  told.clear();
  guests.start({.job = job, .attempt = 2, .slot = 1});
  EXPECT_THAT(told, ElementsAre("admit a: 2"));
}

TEST_F(GuestsTest, WhoGotToItsEndWhileBeingCancelledHasSucceeded) {
  const JobId job = run("a");
  guests.kill(job, policy::Outcome::evicted, "memory is short");
  ASSERT_TRUE(guests.leave(client, "a", {.outcome = policy::Outcome::exited, .exit_code = 0}));
  EXPECT_THAT(asked, ElementsAre("over exited"));
}

TEST_F(GuestsTest, WhoDoesNotAnswerACancelHasLeft) {
  const JobId job = run("a");
  guests.kill(job, policy::Outcome::over_line, "too big");
  now += Guests::kCancelPatience - 1ms;
  guests.look();
  EXPECT_THAT(asked, IsEmpty());
  now += 1ms;
  guests.look();
  EXPECT_THAT(asked, ElementsAre("over over_line"));
  EXPECT_FALSE(guests.leave(client, "a", {.outcome = policy::Outcome::cancelled}));
}

TEST_F(GuestsTest, AClientThatIsGoneHasNothing) {
  run("runs");
  enter("waits");
  const JobId dying = run("dies");
  guests.kill(dying, policy::Outcome::evicted, "memory is short");
  told.clear();
  guests.close(client);
  EXPECT_THAT(asked, ::testing::UnorderedElementsAre("over cancelled", "over cancelled",
                                                     "withdraw: its client is gone"));
  EXPECT_THAT(told, IsEmpty());
  EXPECT_EQ(guests.size(), 0u);
  EXPECT_EQ(guests.running(), 0u);
  EXPECT_EQ(guests.clients(), 0u);
  EXPECT_FALSE(guests.enter(client, {.name = "b"}));
}

TEST_F(GuestsTest, LeavingBeforeAdmissionWithdraws) {
  enter("a");
  ASSERT_TRUE(guests.leave(client, "a", {.outcome = policy::Outcome::cancelled}));
  EXPECT_THAT(asked, ElementsAre("withdraw: its client has withdrawn it"));
  EXPECT_THAT(told, ElementsAre("left a: for good"));
}

TEST_F(GuestsTest, TheGovernorsHandActsAtThePlace) {
  const JobId job = run("a", {.place = CgroupPlace{"/x"}, .hand = GuestHand::governor});
  guests.freeze(job);
  guests.thaw(job);
  guests.kill(job, policy::Outcome::evicted, "short");
  guests.look();
  ASSERT_TRUE(guests.leave(client, "a", {.outcome = policy::Outcome::cancelled}));
  EXPECT_THAT(told,
              ElementsAre("place frozen", "pause a: ", "place thawed", "resume a: ", "place killed",
                          "cancel a: evicted", "place killed", "place closed", "left a: for good"));
}

TEST_F(GuestsTest, TheClientsHandIsLeftAlone) {
  const JobId job = run("a", {.place = CgroupPlace{"/x"}});
  guests.freeze(job);
  guests.kill(job, policy::Outcome::evicted, "short");
  EXPECT_THAT(told, ElementsAre("pause a: ", "cancel a: evicted"));
}

TEST_F(GuestsTest, WhatIsSeenAtAPlaceGoesBeforeTheClientsWord) {
  run("a", {.place = CgroupPlace{"/x"}});
  guests.look();
  EXPECT_EQ(samples.back().used, 70_MiB);
  EXPECT_EQ(samples.back().cpu, 3s);
  ASSERT_TRUE(guests.observe(client, "a", {.used = 5_MiB, .cpu = {}, .io = 7_MiB}));
  EXPECT_EQ(samples.back().used, 70_MiB);
  EXPECT_EQ(samples.back().io, 7_MiB) << "which the place does not show";
  guests.look();
  EXPECT_EQ(samples.back().used, 70_MiB);
}

TEST_F(GuestsTest, WhatAClientHasToldIsForgottenWithItsAttempt) {
  const JobId job = run("a");
  ASSERT_TRUE(guests.observe(client, "a", {.used = 5_MiB, .cpu = {}, .io = {}}));
  EXPECT_EQ(samples.back().used, 5_MiB);
  again.insert(job);
  guests.kill(job, policy::Outcome::evicted, "for want of memory");
  ASSERT_TRUE(guests.leave(client, "a", {.outcome = policy::Outcome::cancelled}));
  guests.start({.job = job, .attempt = 2, .slot = 1});
  ASSERT_TRUE(guests.observe(client, "a", {.used = {}, .cpu = 1s, .io = {}}));
  EXPECT_EQ(samples.back().used, Bytes{});
}

TEST_F(GuestsTest, AWeightIsSetWhereTheGovernorActs) {
  run("a", {.weight = 300, .place = CgroupPlace{"/x"}});
  ASSERT_TRUE(guests.watch(client, "a", CgroupPlace{"/y"}));
  EXPECT_THAT(told, Not(Contains("place weighs 300")));
  const JobId job =
      enter("b", {.weight = 300, .place = CgroupPlace{"/x"}, .hand = GuestHand::governor});
  EXPECT_THAT(told, Not(Contains("place weighs 300")));
  guests.start({.job = job, .attempt = 1, .slot = 2});
  EXPECT_THAT(told, Contains("place weighs 300"));
}

TEST_F(GuestsTest, AWatchedPlaceCatchesUpWithWhatWasDecided) {
  const JobId job = run("a", {.place = CgroupPlace{"/x"}, .hand = GuestHand::governor});
  guests.freeze(job);
  told.clear();
  ASSERT_TRUE(guests.watch(client, "a", CgroupPlace{"/y"}));
  EXPECT_THAT(told, ElementsAre("place closed", "place frozen"));
}

TEST_F(GuestsTest, MistakesAreRefusedWithTheirKind) {
  enter("a");
  const auto code_of = [](const Result<void>& result) {
    return result ? std::errc{} : result.error().code;
  };
  EXPECT_EQ(code_of(guests.enter(client, {.name = "a"})), std::errc::file_exists);
  EXPECT_EQ(code_of(guests.enter(client, {.name = ""})), std::errc::invalid_argument);
  EXPECT_EQ(code_of(guests.enter(client, {.name = std::string(257, 'x')})),
            std::errc::invalid_argument);
  EXPECT_EQ(code_of(guests.enter(client, {.name = "b", .hand = GuestHand::governor})),
            std::errc::invalid_argument);
  EXPECT_EQ(code_of(guests.observe(client, "z", {})), std::errc::no_such_process);
  EXPECT_EQ(code_of(guests.observe(client, "a", {})), std::errc::operation_in_progress);
  const ClientId stranger = guests.open({.uid = 5}, {});
  EXPECT_EQ(code_of(guests.leave(stranger, "a", {})), std::errc::no_such_process);
  EXPECT_EQ(code_of(guests.enter(stranger, {.name = "a", .place = CgroupPlace{"/x"}})),
            std::errc::permission_denied);
}

TEST_F(GuestsTest, DrainingSendsAwayWhoWaitsAndTakesNobody) {
  run("runs");
  enter("waits");
  guests.drain();
  EXPECT_THAT(told, ElementsAre("left waits: for good"));
  const auto refused = guests.enter(client, {.name = "late"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, std::errc::resource_unavailable_try_again);
  guests.cancel_all("the daemon is told to end at once");
  EXPECT_THAT(asked, ElementsAre("withdraw: the daemon ends"));
  EXPECT_THAT(told, ElementsAre("left waits: for good", "cancel runs: cancelled"));
}

TEST_F(GuestsTest, ClientsAreBounded) {
  for (std::size_t i = 0; i < Guests::kOfClientMax; ++i) enter(std::to_string(i));
  const auto refused = guests.enter(client, {.name = "one more"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, std::errc::not_enough_memory);
  EXPECT_THAT(refused.error().message(), HasSubstr("expected at most 1000 and 10000"));
}

// A closed client's guests end others' waits, whatever is decided meanwhile.
TEST_F(GuestsTest, WhatOneClientsEndSetsFreeIsStartedWithin) {
  const JobId first = run("a");
  const ClientId other = guests.open({.uid = 0}, listener());
  ASSERT_TRUE(guests.enter(other, {.name = "b"}));
  const JobId second = entered.back().id;
  ASSERT_NE(first, second);
  guests.close(client);
  guests.start({.job = second, .attempt = 1, .slot = 1});
  EXPECT_THAT(told, ElementsAre("admit b: 1"));
}

}  // namespace
}  // namespace plimsoll::engine

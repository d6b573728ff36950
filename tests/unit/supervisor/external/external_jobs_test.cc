#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "external_jobs_scene.h"

namespace plimsoll::supervisor {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using namespace scene;
using namespace literals;
using namespace std::chrono_literals;

TEST_F(GuestsTest, AGuestIsItsUsers) {
  enter("of root");
  EXPECT_EQ(entered.back().tenant, policy::kHost);
  client = external_jobs.open({.uid = 65'534}, *this);
  enter("of somebody");
  EXPECT_EQ(entered.back().tenant, policy::Tenant{65'534});
  // However many there are, on however many machines.
  client = external_jobs.open({.where = PeerPlace::remote}, *this);
  enter("from elsewhere");
  const policy::Tenant remote = entered.back().tenant;
  EXPECT_NE(remote, policy::kHost);
  client = external_jobs.open({.where = PeerPlace::remote, .uid = 0}, *this);
  enter("from elsewhere too");
  EXPECT_EQ(entered.back().tenant, remote);
}

TEST_F(GuestsTest, AGuestLivesFromEnterToLeave) {
  const JobId job = enter("a", {.job_class = "cc", .memory_max = 1_GiB, .cpu_hint = 2});
  EXPECT_EQ(entered.back().job_class, "cc");
  EXPECT_EQ(entered.back().memory_hint, 1_GiB);  // for want of a better guess
  EXPECT_EQ(entered.back().cpu_hint, 2);
  decide(policy::EventKind::admitted, job, "fits");
  external_jobs.start({.job = job, .attempt = 1, .slot = 1});
  at += 2s;
  ASSERT_TRUE(external_jobs.observe(client, "a", {.used = 10_MiB, .cpu = 1s, .io = {}}));
  EXPECT_EQ(samples.back().ran, 2s);
  EXPECT_EQ(samples.back().used, 10_MiB);
  ASSERT_TRUE(
      external_jobs.leave(client, "a", {.outcome = policy::Outcome::exited, .exit_code = 0}));
  EXPECT_THAT(told, ElementsAre("admit a: 1", "left a: for good"));
  EXPECT_EQ(ends.back().wall, 2s);
  EXPECT_EQ(external_jobs.size(), 0u);
  EXPECT_EQ(external_jobs.running(), 0u);
  enter("a");  // the name is free
}

// Whose past tells what it needs, by the kernel's word.
TEST_F(GuestsTest, AGuestsPastIsItsUsers) {
  enter("root's");
  EXPECT_EQ(entered.back().owner, std::nullopt);  // who keeps the daemon's past
  const ClientId alice = external_jobs.open({.uid = 1000}, *this);
  ASSERT_TRUE(external_jobs.enter(alice, {.name = "alice's"}));
  EXPECT_EQ(entered.back().owner, 1000u);
  const ClientId remote = external_jobs.open({.where = PeerPlace::remote}, *this);
  ASSERT_TRUE(external_jobs.enter(remote, {.name = "somebody's"}));
  EXPECT_EQ(entered.back().owner, UINT32_MAX);
}

TEST_F(GuestsTest, NoGuestUsesMoreThanTheMachineHas) {
  run("a");
  at += 2s;
  ASSERT_TRUE(external_jobs.observe(client, "a", {.used = Bytes{UINT64_MAX}, .cpu = 1h, .io = {}}));
  EXPECT_EQ(samples.back().used + samples.back().claimed.value_or(Bytes{}), 64_GiB);
  EXPECT_EQ(samples.back().cpu, 16s);
  ASSERT_TRUE(external_jobs.observe(client, "a", {.used = 1_MiB, .cpu = 15s, .io = {}}));
  EXPECT_EQ(samples.back().cpu, 15s);
}

TEST_F(GuestsTest, ACommandsClassIsThatOfItsWords) {
  enter("a", {.command = {"cc", "-c", "a.c"}, .cwd = "/src"});
  EXPECT_EQ(entered.back().job_class, "");  // the estimator derives it
  EXPECT_EQ(entered.back().cwd, "/src");
  EXPECT_EQ(policy::command_line(entered.back().command), "cc -c a.c");
  EXPECT_EQ(entered.back().name, "1") << "who runs it says nothing of what it needs";
  enter("b", {.job_class = "link", .command = {"ld"}});
  EXPECT_EQ(entered.back().job_class, "link");
  enter("c");
  EXPECT_EQ(entered.back().job_class, kExternalClass);
}

// Looks at its place miss what is short.
TEST_F(GuestsTest, TheLastWordTeachesAndCostsNobodyAnything) {
  run("a", {.place = ProcessPlace{7}});
  at += 2s;
  ASSERT_TRUE(external_jobs.leave(
      client, "a", {.outcome = policy::Outcome::exited, .exit_code = 0, .peak = 3_GiB, .cpu = 1s}));
  EXPECT_EQ(samples.back().peak, 3_GiB);
  EXPECT_EQ(samples.back().used, Bytes{});
  EXPECT_EQ(samples.back().cpu, 1s);
  run("b", {.place = ProcessPlace{7}});
  at += 2s;
  ASSERT_TRUE(external_jobs.leave(
      client, "b", {.outcome = policy::Outcome::exited, .peak = Bytes{UINT64_MAX}, .cpu = 1h}));
  EXPECT_EQ(samples.back().peak, 64_GiB) << "as much as the machine has";
  EXPECT_EQ(samples.back().cpu, 16s);
}

TEST_F(GuestsTest, ARoundOfLooksIsOfOneMomentAndInSlices) {
  for (int i = 0; i < 5; ++i) run(std::to_string(i), {.place = ProcessPlace{7}});
  const Instant begun = at;
  on_look = [this] { at += ExternalJobs::kLookSlice / 2; };
  EXPECT_TRUE(external_jobs.look());
  EXPECT_EQ(sampled.size(), 2u);
  EXPECT_TRUE(external_jobs.look());
  EXPECT_FALSE(external_jobs.look());
  EXPECT_THAT(sampled, ElementsAre(begun, begun, begun, begun, begun));
  EXPECT_TRUE(external_jobs.look());  // another round
  EXPECT_GT(sampled.back(), begun);
}

TEST_F(GuestsTest, WhatCostsMoreIsLookedAtLessOften) {
  EXPECT_EQ(ExternalJobs::gap_after({}), ExternalJobs::kSampleInterval);
  EXPECT_EQ(ExternalJobs::gap_after(10ms), 200ms);
  EXPECT_EQ(ExternalJobs::gap_after(10s), ExternalJobs::kSampleIntervalMax);
}

TEST_F(GuestsTest, HoldsAreToldWithTheirCause) {
  const JobId job = enter("a");
  external_jobs.on_event({.at = at,
                          .kind = policy::EventKind::held,
                          .job = job,
                          .reason = "no room",
                          .hold = policy::HoldCause::memory});
  EXPECT_THAT(told, ElementsAre("hold a: memory"));
}

TEST_F(GuestsTest, AWordCountsUpToWhatTheGuestWasAdmittedWith) {
  const JobId job = enter("a");
  external_jobs.start({.job = job, .attempt = 1, .slot = 1, .admitted_with = 100_MiB});
  ASSERT_TRUE(external_jobs.observe(client, "a", {.used = 60_MiB, .cpu = {}, .io = {}}));
  EXPECT_EQ(samples.back().used, 60_MiB);
  EXPECT_EQ(samples.back().claimed, Bytes{});
  ASSERT_TRUE(external_jobs.observe(client, "a", {.used = 8_GiB, .cpu = {}, .io = {}}));
  EXPECT_EQ(samples.back().used, 100_MiB);
  EXPECT_EQ(samples.back().peak, 100_MiB);
  EXPECT_EQ(samples.back().claimed, 8_GiB - 100_MiB);
  ASSERT_TRUE(external_jobs.watch(client, "a", CgroupPlace{"/a"}));
  external_jobs.look();
  EXPECT_EQ(samples.back().used, 70_MiB) << "what is seen is no word";
  EXPECT_EQ(samples.back().claimed, std::nullopt);
}

TEST_F(GuestsTest, WhatIsSeenCountsInFull) {
  const JobId job = enter("a", {.place = CgroupPlace{"/a"}});
  external_jobs.start({.job = job, .attempt = 1, .slot = 1, .admitted_with = 1_MiB});
  external_jobs.look();
  EXPECT_EQ(samples.back().used, 70_MiB);
}

TEST_F(GuestsTest, PausedTimeDoesNotCountAndPausedGuestsAreNotSeen) {
  const JobId job = run("a");
  at += 1s;
  decide(policy::EventKind::frozen, job, "short");
  external_jobs.freeze(job);
  at += 10s;
  ASSERT_TRUE(external_jobs.observe(client, "a", {.used = 1_MiB, .cpu = {}, .io = {}}));
  EXPECT_THAT(samples, IsEmpty());
  decide(policy::EventKind::thawed, job, "room");
  external_jobs.thaw(job);
  at += 1s;
  ASSERT_TRUE(external_jobs.observe(client, "a", {.used = 1_MiB, .cpu = {}, .io = {}}));
  EXPECT_EQ(samples.back().ran, 2s);
  EXPECT_THAT(told, ElementsAre("pause a: short", "resume a: room"));
}

TEST_F(GuestsTest, AnEvictedGuestThatMayRestartComesAgain) {
  const JobId job = run("a", {.restartable = true});
  again = {job};
  external_jobs.kill(job, policy::Outcome::evicted, "memory is short");
  ASSERT_TRUE(external_jobs.leave(client, "a", {.outcome = policy::Outcome::cancelled}));
  EXPECT_THAT(asked, ElementsAre("over evicted"));
  EXPECT_THAT(told, ElementsAre("cancel a: evicted, again", "left a: again"));
  told.clear();
  external_jobs.start({.job = job, .attempt = 2, .slot = 1});
  EXPECT_THAT(told, ElementsAre("admit a: 2"));
}

TEST_F(GuestsTest, WhoGotToItsEndWhileBeingCancelledHasSucceeded) {
  const JobId job = run("a");
  external_jobs.kill(job, policy::Outcome::evicted, "memory is short");
  ASSERT_TRUE(
      external_jobs.leave(client, "a", {.outcome = policy::Outcome::exited, .exit_code = 0}));
  EXPECT_THAT(asked, ElementsAre("over exited"));
}

TEST_F(GuestsTest, WhoDoesNotAnswerACancelHasLeft) {
  const JobId job = run("a");
  external_jobs.kill(job, policy::Outcome::over_line, "too big");
  at += ExternalJobs::kCancelPatience - 1ms;
  external_jobs.look();
  EXPECT_THAT(asked, IsEmpty());
  at += 1ms;
  external_jobs.look();
  EXPECT_THAT(asked, ElementsAre("over over_line"));
  EXPECT_FALSE(external_jobs.leave(client, "a", {.outcome = policy::Outcome::cancelled}));
}

TEST_F(GuestsTest, AClientThatIsGoneHasNothing) {
  run("runs");
  enter("waits");
  const JobId dying = run("dies");
  external_jobs.kill(dying, policy::Outcome::evicted, "memory is short");
  told.clear();
  external_jobs.close(client);
  EXPECT_THAT(asked, ::testing::UnorderedElementsAre("over cancelled", "over cancelled",
                                                     "withdraw: its client disconnected"));
  EXPECT_THAT(told, IsEmpty());
  EXPECT_EQ(external_jobs.size(), 0u);
  EXPECT_EQ(external_jobs.running(), 0u);
  EXPECT_EQ(external_jobs.clients(), 0u);
  EXPECT_FALSE(external_jobs.enter(client, {.name = "b"}));
}

TEST_F(GuestsTest, LeavingBeforeAdmissionWithdraws) {
  enter("a");
  ASSERT_TRUE(external_jobs.leave(client, "a", {.outcome = policy::Outcome::cancelled}));
  EXPECT_THAT(asked, ElementsAre("withdraw: its client has withdrawn it"));
  EXPECT_THAT(told, ElementsAre("left a: for good"));
}

TEST_F(GuestsTest, TheGovernorsHandActsAtThePlace) {
  const JobId job = run("a", {.place = CgroupPlace{"/x"}, .hand = ControlledBy::governor});
  external_jobs.freeze(job);
  external_jobs.thaw(job);
  external_jobs.kill(job, policy::Outcome::evicted, "short");
  external_jobs.look();
  ASSERT_TRUE(external_jobs.leave(client, "a", {.outcome = policy::Outcome::cancelled}));
  EXPECT_THAT(told,
              ElementsAre("place frozen", "pause a: ", "place thawed", "resume a: ", "place killed",
                          "cancel a: evicted", "place killed", "place closed", "left a: for good"));
}

TEST_F(GuestsTest, TheClientsHandIsLeftAlone) {
  const JobId job = run("a", {.place = CgroupPlace{"/x"}});
  external_jobs.freeze(job);
  external_jobs.kill(job, policy::Outcome::evicted, "short");
  EXPECT_THAT(told, ElementsAre("pause a: ", "cancel a: evicted"));
}

TEST_F(GuestsTest, WhatIsSeenAtAPlaceGoesBeforeTheClientsWord) {
  run("a", {.place = CgroupPlace{"/x"}});
  external_jobs.look();
  EXPECT_EQ(samples.back().used, 70_MiB);
  EXPECT_EQ(samples.back().cpu, 3s);
  ASSERT_TRUE(external_jobs.observe(client, "a", {.used = 5_MiB, .cpu = {}, .io = 7_MiB}));
  EXPECT_EQ(samples.back().used, 70_MiB);
  EXPECT_EQ(samples.back().io, 7_MiB) << "which the place does not show";
  external_jobs.look();
  EXPECT_EQ(samples.back().used, 70_MiB);
}

TEST_F(GuestsTest, WhatAClientHasToldIsForgottenWithItsAttempt) {
  const JobId job = run("a");
  ASSERT_TRUE(external_jobs.observe(client, "a", {.used = 5_MiB, .cpu = {}, .io = {}}));
  EXPECT_EQ(samples.back().used, 5_MiB);
  again.insert(job);
  external_jobs.kill(job, policy::Outcome::evicted, "for want of memory");
  ASSERT_TRUE(external_jobs.leave(client, "a", {.outcome = policy::Outcome::cancelled}));
  external_jobs.start({.job = job, .attempt = 2, .slot = 1});
  ASSERT_TRUE(external_jobs.observe(client, "a", {.used = {}, .cpu = 1s, .io = {}}));
  EXPECT_EQ(samples.back().used, Bytes{});
}

TEST_F(GuestsTest, AWeightIsSetWhereTheGovernorActs) {
  run("a", {.weight = 300, .place = CgroupPlace{"/x"}});
  ASSERT_TRUE(external_jobs.watch(client, "a", CgroupPlace{"/y"}));
  EXPECT_THAT(told, Not(Contains("place weighs 300")));
  const JobId job =
      enter("b", {.weight = 300, .place = CgroupPlace{"/x"}, .hand = ControlledBy::governor});
  EXPECT_THAT(told, Not(Contains("place weighs 300")));
  external_jobs.start({.job = job, .attempt = 1, .slot = 2});
  EXPECT_THAT(told, Contains("place weighs 300"));
}

TEST_F(GuestsTest, AWatchedPlaceCatchesUpWithWhatWasDecided) {
  const JobId job = run("a", {.place = CgroupPlace{"/x"}, .hand = ControlledBy::governor});
  external_jobs.freeze(job);
  told.clear();
  ASSERT_TRUE(external_jobs.watch(client, "a", CgroupPlace{"/y"}));
  EXPECT_THAT(told, ElementsAre("place closed", "place frozen"));
}

TEST_F(GuestsTest, MistakesAreRefusedWithTheirKind) {
  enter("a");
  const auto code_of = [](const Result<void>& result) {
    return result ? std::errc{} : result.error().code;
  };
  EXPECT_EQ(code_of(external_jobs.enter(client, {.name = "a"})), std::errc::file_exists);
  EXPECT_EQ(code_of(external_jobs.enter(client, {.name = ""})), std::errc::invalid_argument);
  EXPECT_EQ(code_of(external_jobs.enter(client, {.name = std::string(257, 'x')})),
            std::errc::invalid_argument);
  EXPECT_EQ(code_of(external_jobs.enter(client, {.name = "b", .hand = ControlledBy::governor})),
            std::errc::invalid_argument);
  EXPECT_EQ(code_of(external_jobs.observe(client, "z", {})), std::errc::no_such_process);
  EXPECT_EQ(code_of(external_jobs.observe(client, "a", {})), std::errc::operation_in_progress);
  const ClientId stranger = external_jobs.open({.uid = 5}, *this);
  EXPECT_EQ(code_of(external_jobs.leave(stranger, "a", {})), std::errc::no_such_process);
  EXPECT_EQ(code_of(external_jobs.enter(stranger, {.name = "a", .place = CgroupPlace{"/x"}})),
            std::errc::permission_denied);
}

TEST_F(GuestsTest, AGroupIsOneJobs) {
  const auto is_taken = [](const Result<void>& done) {
    return !done && done.error().code == std::errc::permission_denied;
  };
  run("a", {.place = CgroupPlace{"/x/y"}});
  for (const char* path : {"/x/y", "/x/y/", "/x", "/x/y/z"}) {
    const auto second = external_jobs.enter(client, {.name = "b", .place = CgroupPlace{path}});
    EXPECT_TRUE(is_taken(second)) << path;
  }
  run("b", {.place = CgroupPlace{"/x/yz"}});
  EXPECT_TRUE(is_taken(external_jobs.watch(client, "b", CgroupPlace{"/x/y"})));
  EXPECT_TRUE(external_jobs.watch(client, "a", CgroupPlace{"/x/y"})) << "it is its own";
  ASSERT_TRUE(external_jobs.watch(client, "a", CgroupPlace{"/elsewhere"}));
  EXPECT_TRUE(external_jobs.watch(client, "b", CgroupPlace{"/x/y"}));
}

// Whoever is named by pid besides, or has named it, is counted there.
TEST_F(GuestsTest, TheGroupsOfThoseThatRunAreMeasured) {
  enter("waits", {.place = CgroupPlace{"/w"}});
  run("a", {.place = CgroupPlace{"/x/y"}});
  run("b", {.place = ProcessPlace{7}});
  MeasuredGroups measured;
  external_jobs.add_groups(measured);
  EXPECT_TRUE(measured.count("0::/x/y/z\n"));
  EXPECT_FALSE(measured.count("0::/w\n")) << "nobody looks there";
  ASSERT_TRUE(external_jobs.leave(client, "a", {}));
  MeasuredGroups rest;
  external_jobs.add_groups(rest);
  EXPECT_TRUE(rest.empty());
}

TEST_F(GuestsTest, DrainingSendsAwayWhoWaitsAndTakesNobody) {
  run("runs");
  enter("waits");
  external_jobs.drain();
  EXPECT_THAT(told, ElementsAre("left waits: for good"));
  const auto refused = external_jobs.enter(client, {.name = "late"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, std::errc::resource_unavailable_try_again);
  external_jobs.cancel_all("the daemon is told to end at once");
  EXPECT_THAT(asked, ElementsAre("withdraw: the daemon is shutting down"));
  EXPECT_THAT(told, ElementsAre("left waits: for good", "cancel runs: cancelled"));
}

TEST_F(GuestsTest, ClientsAreBounded) {
  for (std::size_t i = 0; i < ExternalJobs::kOfClientMax; ++i) enter(std::to_string(i));
  const auto refused = external_jobs.enter(client, {.name = "one more"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, std::errc::not_enough_memory);
  EXPECT_THAT(refused.error().message(), HasSubstr("jobs of this client, expected at most 1000"));
}

TEST_F(GuestsTest, UsersAreBoundedHoweverManyClientsTheyAre) {
  for (std::size_t i = 0; i < ExternalJobs::kOfUserMax; ++i) {
    if (i % ExternalJobs::kOfClientMax == 0) client = external_jobs.open({.uid = 7}, *this);
    ASSERT_TRUE(external_jobs.enter(client, {.name = std::to_string(i)})) << i;
  }
  client = external_jobs.open({.uid = 7}, *this);
  const auto refused = external_jobs.enter(client, {.name = "one more"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("found 4000 jobs of this user"));
  EXPECT_TRUE(external_jobs.enter(external_jobs.open({.uid = 8}, *this), {.name = "another's"}));
  external_jobs.close(ClientId{static_cast<std::uint64_t>(client) - 1});
  EXPECT_TRUE(external_jobs.enter(client, {.name = "one more"}));
}

// A closed client's external jobs end others' waits, whatever is decided meanwhile.
TEST_F(GuestsTest, WhatOneClientsEndSetsFreeIsStartedWithin) {
  const JobId first = run("a");
  const ClientId other = external_jobs.open({.uid = 0}, *this);
  ASSERT_TRUE(external_jobs.enter(other, {.name = "b"}));
  const JobId second = entered.back().id;
  ASSERT_NE(first, second);
  external_jobs.close(client);
  external_jobs.start({.job = second, .attempt = 1, .slot = 1});
  EXPECT_THAT(told, ElementsAre("admit b: 1"));
}

}  // namespace
}  // namespace plimsoll::supervisor

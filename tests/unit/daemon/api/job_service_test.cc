// Jobs of others, from their submission to the removal of their last group.
#include "daemon/api/job_service.h"

#include <signal.h>

#include "unit/daemon/api/job_service_scene.h"

namespace plimsoll::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using JobServiceTest = JobServiceScene;

TEST_F(JobServiceTest, AJobFromItsSubmissionToItsEnd) {
  jobs.hold(policy::HoldCause::memory, "no memory");
  const JobId job = submit("build");
  const auto follower = follow(job);
  EXPECT_THAT(follower->heard, ElementsAre("waiting 0"));
  jobs.let_go();
  EXPECT_EQ(follower->heard.back(), "running 1");
  jobs.prints(job, "hello\n");
  turn_until([&] { return follower->out == "hello\n"; });
  ASSERT_TRUE(service.pause(me, job));
  EXPECT_EQ(follower->heard.back(), "paused 1");
  ASSERT_TRUE(service.resume(me, job));
  EXPECT_EQ(follower->heard.back(), "running 1");
  exits(job, 3);
  ASSERT_TRUE(follower->end);
  EXPECT_EQ(follower->end->id, "build");
  EXPECT_EQ(follower->end->outcome, policy::Outcome::exited);
  EXPECT_EQ(follower->end->exit_code, 3);
  EXPECT_TRUE(follower->had_attempt);
  EXPECT_THAT(reporter.reports, SizeIs(1));
  EXPECT_TRUE(service.is_idle());
}

// What it printed last is in its pipe while its group is removed.
TEST_F(JobServiceTest, WhatAJobPrintsLastComesBeforeItsEnd) {
  const JobId job = submit();
  const auto follower = follow(job);
  jobs.prints(job, "the last words");
  jobs.exits(job, 0);
  EXPECT_FALSE(follower->end) << "its group stands";
  jobs.remove_group(job);
  EXPECT_EQ(follower->out, "the last words");
  EXPECT_TRUE(follower->end);
}

TEST_F(JobServiceTest, WhoComesAfterTheEndFindsNoJobButItsStory) {
  const JobId job = submit();
  exits(job, 0);
  const auto watching = service.watch(me, job, std::make_shared<FakeFollower>());
  ASSERT_FALSE(watching);
  EXPECT_EQ(watching.error().code, std::errc::no_such_process);
  const auto story = service.explain(me, job);
  ASSERT_TRUE(story);
  EXPECT_EQ(story->decisions.back().kind, policy::EventKind::started);
}

TEST_F(JobServiceTest, WhileItDrainsNoJobIsTakenAndThoseThatWaitEnd) {
  const JobId runs = submit();
  jobs.hold(policy::HoldCause::places, "so many run");
  const JobId waits = submit();
  const auto of_runs = follow(runs);
  const auto of_waits = follow(waits);
  service.drain();
  ASSERT_TRUE(of_waits->end);
  EXPECT_EQ(of_waits->end->outcome, policy::Outcome::skipped);
  EXPECT_THAT(of_waits->end->reason, HasSubstr("the daemon is shutting down"));
  EXPECT_FALSE(of_waits->had_attempt);
  const auto late = service.submit(me, order());
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, std::errc::resource_unavailable_try_again);
  EXPECT_FALSE(of_runs->end);
  exits(runs, 0);
  EXPECT_TRUE(of_runs->end);
  EXPECT_TRUE(service.is_idle());
}

TEST_F(JobServiceTest, CancelledBeforeItsStartItNeverRuns) {
  jobs.hold(policy::HoldCause::memory, "no memory");
  const JobId job = submit();
  const auto follower = follow(job);
  service.cancel(job, "its client is gone");
  ASSERT_TRUE(follower->end);
  EXPECT_EQ(follower->end->outcome, policy::Outcome::skipped);
  EXPECT_EQ(follower->end->reason, "its client is gone");
  jobs.let_go();
  EXPECT_EQ(jobs.size(), 0u);
  service.cancel(job, "again");
}

TEST_F(JobServiceTest, CancelledWhileItRunsItEndsWithItsGroup) {
  const JobId job = submit();
  const auto follower = follow(job);
  ASSERT_TRUE(service.kill(me, job));
  EXPECT_FALSE(follower->end);
  jobs.reap();
  ASSERT_TRUE(follower->end);
  EXPECT_EQ(follower->end->outcome, policy::Outcome::cancelled);
  EXPECT_EQ(follower->end->reason, "killed by its user");
}

TEST_F(JobServiceTest, KillingAllKillsThoseThatRunAndEndsTheOthers) {
  const JobId runs = submit();
  jobs.hold(policy::HoldCause::memory, "no memory");
  submit();
  service.kill_all("the daemon was told to end at once");
  EXPECT_FALSE(service.is_idle());
  EXPECT_NE(jobs.running(runs), nullptr);
  jobs.reap();
  EXPECT_TRUE(service.is_idle());
}

TEST_F(JobServiceTest, AnEvictedJobRunsAgainAndTellsOfEachAttempt) {
  const JobId job = submit();
  const auto follower = follow(job);
  jobs.evict(job);
  EXPECT_EQ(follower->heard.back(), "waiting 1");
  // The first one's group stands while the second writes.
  jobs.let_go();
  EXPECT_EQ(follower->heard.back(), "running 2");
  jobs.prints(job, "second");
  jobs.remove_group(job, 1);
  EXPECT_EQ(follower->out, "") << "it is the second's, and goes on";
  EXPECT_FALSE(follower->end);
  turn_until([&] { return follower->out == "second"; });
  exits(job, 0);
  ASSERT_TRUE(follower->end);
  EXPECT_THAT(follower->end->attempts, SizeIs(2));
}

TEST_F(JobServiceTest, AJobHasEndedWhenItsLastGroupIsRemoved) {
  const JobId job = submit();
  const auto follower = follow(job);
  jobs.evict(job);
  jobs.let_go();
  jobs.exits(job, 0);
  jobs.remove_group(job, 2);
  EXPECT_FALSE(follower->end);
  EXPECT_FALSE(service.is_idle());
  jobs.remove_group(job, 1);
  EXPECT_TRUE(follower->end);
}

TEST_F(JobServiceTest, AFollowerThatDoesNotReadHoldsUpThatJobAlone) {
  const JobId slow = submit();
  const JobId other = submit();
  const auto sleeps = follow(slow);
  const auto reads = follow(other);
  sleeps->reads_nothing = true;
  jobs.prints(slow, "kept in the pipe");
  jobs.prints(other, "read");
  turn_until([&] { return reads->out == "read"; });
  EXPECT_EQ(sleeps->out, "");
  sleeps->reads_nothing = false;
  turn_until([&] { return sleeps->out == "kept in the pipe"; });
}

TEST_F(JobServiceTest, WhoHasGoneIsToldNothingAndTheJobGoesOn) {
  const JobId job = submit();
  const auto gone = follow(job);
  service.unwatch(job, last_watcher);
  gone->heard.clear();
  ASSERT_TRUE(service.pause(me, job));
  exits(job, 0);
  EXPECT_THAT(gone->heard, IsEmpty());
  EXPECT_FALSE(gone->end);
  service.unwatch(job, last_watcher);
}

TEST_F(JobServiceTest, WhereTheApiEndsThoseWhoFollowAreToldSoOnce) {
  const JobId job = submit();
  const auto follower = follow(job);
  service.abandon();
  service.abandon();
  EXPECT_THAT(follower->heard, ElementsAre("running 1", "lost"));
  exits(job, 0);
  EXPECT_FALSE(follower->end);
}

TEST_F(JobServiceTest, OneUsersJobsAreCounted) {
  jobs.hold(policy::HoldCause::places, "so many run");
  for (std::size_t i = 0; i < JobService::kOfUserMax; ++i) submit();
  const auto one_more = service.submit(me, order());
  ASSERT_FALSE(one_more);
  EXPECT_EQ(one_more.error().code, std::errc::not_enough_memory);
  EXPECT_THAT(one_more.error().what, HasSubstr("found 1000 jobs of this user"));
  service.cancel(jobs.last(), "for another");
  EXPECT_TRUE(service.submit(me, order()));
}

TEST_F(JobServiceTest, TheBytesOfOneUsersJobsAreCounted) {
  JobRequest large = order();
  large.environment = {std::string((16 << 20) - 4096, 'x')};
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(service.submit(me, large));
  const auto one_more = service.submit(me, large);
  ASSERT_FALSE(one_more);
  EXPECT_THAT(one_more.error().what, HasSubstr("of commands and environments"));
  exits(jobs.last(), 0);
  EXPECT_TRUE(service.submit(me, large));
}

// However many words it has: the loop has others to serve.
TEST_F(JobServiceTest, ACommandIsNotCopiedOnItsWayToTheGuardian) {
  JobRequest request = order();
  const Words command(std::vector<std::string>(100'000, "w"));
  const Words environment(std::vector<std::string>(100'000, "A=1"));
  request.spec.command = command;
  request.environment = environment;
  const auto job = service.submit(me, std::move(request));
  ASSERT_TRUE(job);
  const guardian::SpawnRequest& spawn = jobs.running(*job)->prepared.request.spawn;
  EXPECT_EQ(spawn.argv.block().data(), command.block().data());
  EXPECT_EQ(spawn.env.block().data(), environment.block().data());
}

TEST_F(JobServiceTest, OfALongCommandTheReportHasTheBeginning) {
  JobRequest request = order();
  request.spec.command = std::vector<std::string>(100'000, "word");
  const auto job = service.submit(me, std::move(request));
  ASSERT_TRUE(job);
  const auto follower = follow(*job);
  exits(*job, 0);
  ASSERT_TRUE(follower->end);
  EXPECT_EQ(follower->end->argv_words, 100'000u);
  const Words& told = std::get<Words>(follower->end->command);
  EXPECT_LE(told.block().size(), JobService::kCommandReportedMax);
  EXPECT_GT(told.size(), 1000u);
  const JobId small = submit();
  const auto other = follow(small);
  exits(small, 0);
  EXPECT_FALSE(other->end->argv_words);
}

TEST_F(JobServiceTest, FollowersBesideTheFirstOfAJobAreCounted) {
  const JobId job = submit();
  follow(job);
  for (std::size_t i = 0; i < Followers::kOfUserMax; ++i) follow(job);
  EXPECT_FALSE(service.watch(me, job, std::make_shared<FakeFollower>()));
  service.unwatch(job, last_watcher);
  EXPECT_TRUE(service.watch(me, job, std::make_shared<FakeFollower>()));
}

TEST_F(JobServiceTest, AJobIsItsUsersAlone) {
  const JobId job = submit("mine");
  EXPECT_FALSE(service.watch(somebody, job, std::make_shared<FakeFollower>()));
  EXPECT_FALSE(service.kill(somebody, job));
  EXPECT_FALSE(service.pause(somebody, job));
  EXPECT_FALSE(service.signal(somebody, job, SIGTERM));
  EXPECT_FALSE(service.explain(somebody, job));
  EXPECT_FALSE(service.find_named(somebody, "mine"));
  EXPECT_THAT(service.list(somebody), IsEmpty());
  EXPECT_EQ(service.spec_of(somebody, job), nullptr);
  const supervisor::Peer remote{.where = supervisor::PeerPlace::remote};
  EXPECT_THAT(service.list(remote), IsEmpty());
  EXPECT_EQ(service.submit(remote, order()).error().code, std::errc::permission_denied);
  EXPECT_THAT(service.list(me), SizeIs(1));
  EXPECT_FALSE(jobs.running(job)->killed);
}

TEST_F(JobServiceTest, WhyTheNextJobWaitsIsListedAsItIsNow) {
  jobs.hold(policy::HoldCause::space, "10 MiB are free");
  const JobId job = submit();
  EXPECT_EQ(service.list(me).front().reason, "10 MiB are free");
  jobs.hold(policy::HoldCause::space, "20 MiB are free", job);
  EXPECT_EQ(service.list(me).front().reason, "20 MiB are free");
}

TEST_F(JobServiceTest, ANameMeansTheJobThatCameFirst) {
  const JobId first = submit("twice");
  submit("twice");
  EXPECT_EQ(service.find_named(me, "twice"), first);
  EXPECT_EQ(service.find_named(me, "2"), JobId{2});
  EXPECT_FALSE(service.find_named(me, "3"));
}

// Who may act on everybody's jobs is not led to another one by its name.
TEST_F(JobServiceTest, ForTheHostANumberGoesBeforeANameAndItsOwnBeforeOthers) {
  const JobId first = submit("real");
  const JobId decoy = submit("1");
  ASSERT_EQ(first, JobId{1});
  EXPECT_EQ(service.find_named(me, "1"), first);
  EXPECT_EQ(service.find_named(me, "2"), decoy);
  const supervisor::Peer root{.uid = ::geteuid()};
  const auto others = service.submit(somebody, order("nightly"));
  if (!others) GTEST_SKIP() << "only root runs jobs of others: " << others.error().message();
  EXPECT_EQ(service.find_named(root, "nightly"), *others);
  const JobId own = submit("nightly");
  EXPECT_EQ(service.find_named(root, "nightly"), own);
  EXPECT_EQ(service.find_named(somebody, "nightly"), *others);
}

TEST_F(JobServiceTest, SignalsAreForWhatRuns) {
  jobs.hold(policy::HoldCause::memory, "no memory");
  const JobId job = submit();
  EXPECT_EQ(service.signal(me, job, SIGTERM).error().code, std::errc::operation_in_progress);
  jobs.let_go();
  ASSERT_TRUE(service.signal(me, job, SIGTERM));
  EXPECT_THAT(jobs.running(job)->signals, ElementsAre(SIGTERM));
  ASSERT_TRUE(service.signal(me, job, SIGKILL));
  EXPECT_EQ(jobs.running(job)->killed, "killed by its user");
}

}  // namespace
}  // namespace plimsoll::daemon

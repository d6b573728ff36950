#include "supervisor/host_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "unit/supervisor/model_host.h"

// The executor of the real machine, on a modelled one.
namespace plimsoll::supervisor {
namespace {

using namespace std::chrono_literals;
using namespace plimsoll::literals;
using policy::Outcome;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string number(JobId job) { return std::to_string(static_cast<std::uint64_t>(job)); }

// All that the executor tells, in the journal of its host: to the scheduler, to the owner of the
// jobs, and to whoever runs it.
struct Listener : policy::ExecutorObserver, JobOwner, HostExecutorObserver {
  explicit Listener(model::Host& of) : host(of) {}
  void say(const std::string& what) { host.journal.push_back(what); }

  void on_job(JobId /*job*/, const policy::JobSample& /*sample*/) override { ++samples; }
  void on_machine(const policy::MachineSample& /*sample*/) override { ++looks; }
  void on_over(JobId job, const policy::AttemptEnd& end) override {
    say("scheduler: " + number(job) + " over, " + std::string(name_of(end.outcome)));
    overs.push_back(job);
  }
  void on_alarm(const std::string& reason, const policy::Numbers& /*numbers*/) override {
    alarms.push_back(reason);
  }
  void on_wake() override { say("scheduler: wake"); }

  Prepared prepare(const policy::Start& start) override {
    say("owner: prepare " + number(start.job));
    Prepared prepared;
    prepared.request.group = "job-" + number(start.job);
    prepared.request.spawn.argv = {"/bin/true"};
    prepared.refusal = refusal;
    return prepared;
  }
  void on_over(AttemptKey key) override { say("owner: " + number(key.job) + " over"); }
  void on_job_over(const policy::JobOver& over) override {
    say("owner: job " + number(over.job) + " over");
  }
  void on_gone(const AttemptGone& gone) override {
    say("owner: " + number(gone.key.job) + " gone, " + gone.result.reason);
    gones.push_back(gone.key.job);
  }
  void on_stuck(AttemptKey key, const reap::Stuck& /*stuck*/) override {
    say("owner: " + number(key.job) + " stuck");
  }

  monitor::Bounds bounds() const override { return limits; }
  void on_notice(const std::string& text) override { say("notice: " + text); }

  model::Host& host;
  std::optional<std::string> refusal;
  monitor::Bounds limits{.line = Bytes{std::uint64_t{1} << 60}, .reserve = {}};
  int samples = 0, looks = 0;
  std::vector<JobId> overs, gones;
  std::vector<std::string> alarms;
};

// Who runs external jobs.
struct Elsewhere : policy::Executor {
  explicit Elsewhere(model::Host& of) : host(of) {}
  [[nodiscard]] Instant now() const override { return host.now(); }
  void start(const policy::Start& start) override { say("start", start.job); }
  void freeze(JobId job) override { say("freeze", job); }
  void thaw(JobId job) override { say("thaw", job); }
  void reclaim(std::optional<JobId> job, Bytes) override { say("reclaim", *job); }
  void kill(JobId job, Outcome, std::string) override { say("kill", job); }
  void look_soon() override {}
  void wake_at(std::optional<Instant>) override {}
  void say(const std::string& verb, JobId job) {
    host.journal.push_back("elsewhere: " + verb + " " + number(job));
  }

  model::Host& host;
};

class HostExecutorTest : public testing::Test {
 protected:
  void enter(std::uint64_t job) { executor_.enter(JobId{job}, listener_); }
  void start(std::uint64_t job, unsigned attempt = 1) {
    executor_.start({.job = JobId{job}, .attempt = attempt});
  }
  // It runs, and its main process is born.
  void run(std::uint64_t job) {
    enter(job);
    start(job);
    host_.set().born();
    host_.done();
  }
  void job_over(std::uint64_t job) {
    executor_.job_over({.job = JobId{job}, .end = {}, .requeue = {}, .reason = {}});
  }

  model::Host host_;
  SystemRecord system_{host_.loop()};
  Listener listener_{host_};
  HostExecutor executor_{host_, system_, listener_, listener_};
};

TEST_F(HostExecutorTest, TellsTheOwnerOfAnEndAndThenTheSchedulerAndTheOwnerWhenItIsGone) {
  enter(1);
  start(1);
  EXPECT_THAT(host_.done(), ElementsAre("owner: prepare 1", "spawn job-1"));
  host_.set().born();
  host_.set().exits(0);
  host_.set().empty();
  EXPECT_THAT(host_.done(),
              ElementsAre("reap", "thaw", "owner: 1 over", "scheduler: 1 over, exited"));
  EXPECT_EQ(executor_.attempts(), 1u);
  host_.set().gone();
  EXPECT_THAT(host_.done(), ElementsAre("owner: 1 gone, "));
  EXPECT_EQ(executor_.attempts(), 0u);
  EXPECT_EQ(host_.sets.size(), 1u) << "not destroyed within its own call";
  executor_.collect();
  EXPECT_THAT(host_.sets, IsEmpty());
}

TEST_F(HostExecutorTest, AJobIsKnownUntilItHasEndedAndItsLastGroupIsGone) {
  run(1);
  host_.set().exits(0);
  host_.set().empty();
  job_over(1);
  EXPECT_EQ(executor_.owner_of(JobId{1}), &listener_);
  host_.set().gone();
  EXPECT_EQ(executor_.owner_of(JobId{1}), nullptr);
}

TEST_F(HostExecutorTest, AJobThatNeverStartedIsForgottenAtItsEnd) {
  enter(1);
  job_over(1);
  EXPECT_THAT(host_.done(), ElementsAre("owner: job 1 over"));
  EXPECT_EQ(executor_.owner_of(JobId{1}), nullptr);
}

TEST_F(HostExecutorTest, TheNextAttemptMayRunWhileTheGroupOfTheLastStands) {
  run(1);
  model::Set& first = host_.set();
  first.exits(1);
  first.empty();
  start(1, 2);
  host_.set().born();
  first.gone();
  EXPECT_EQ(executor_.attempts(), 1u);
  host_.set().exits(0);
  host_.set().empty();
  host_.set().gone();
  EXPECT_EQ(listener_.overs.size(), 2u);
  EXPECT_EQ(executor_.attempts(), 0u);
}

TEST_F(HostExecutorTest, ARefusalIsToldFromTheLoopAsAnEnd) {
  listener_.refusal = "there is no user nobody-knows";
  enter(1);
  start(1);
  EXPECT_THAT(host_.done(), ElementsAre("owner: prepare 1"));
  host_.clock.advance(0s);
  EXPECT_THAT(host_.done(), ElementsAre("owner: 1 over", "scheduler: 1 over, failed_to_start",
                                        "owner: 1 gone, there is no user nobody-knows"));
}

TEST_F(HostExecutorTest, WhatIsAskedOfAJobThatIsOverOrUnknownDoesNothing) {
  run(1);
  host_.set().exits(0);
  host_.set().empty();
  host_.done();
  for (const JobId job : {JobId{1}, JobId{7}}) {
    executor_.kill(job, Outcome::cancelled, "too late");
    executor_.freeze(job);
    executor_.thaw(job);
    executor_.reclaim(job, 1_MiB);
    EXPECT_TRUE(executor_.signal(job, SIGUSR1, 0));
  }
  EXPECT_THAT(host_.done(), IsEmpty());
}

TEST_F(HostExecutorTest, KillsFreezesAndThawsWhoRuns) {
  run(1);
  executor_.freeze(JobId{1});
  executor_.thaw(JobId{1});
  executor_.kill(JobId{1}, Outcome::evicted, "for memory");
  EXPECT_THAT(host_.done(), ElementsAre("freeze", "thaw", "reap by force"));
  host_.set().stuck();
  EXPECT_THAT(host_.done(), ElementsAre("owner: 1 stuck"));
}

TEST_F(HostExecutorTest, ATimeOutBeginsWithATerm) {
  run(1);
  executor_.kill(JobId{1}, Outcome::timed_out, "took too long");
  EXPECT_THAT(host_.done(), ElementsAre("signal TERM", "signal CONT"));
}

TEST_F(HostExecutorTest, WakesTheSchedulerAtTheLastInstantThatItAskedFor) {
  executor_.wake_at(executor_.now() + 5s);
  executor_.wake_at(executor_.now() + 7s);
  host_.clock.advance(6999ms);
  EXPECT_THAT(host_.done(), IsEmpty());
  host_.clock.advance(1ms);
  EXPECT_THAT(host_.done(), ElementsAre("scheduler: wake"));
  executor_.wake_at(executor_.now() + 1s);
  executor_.wake_at({});
  host_.clock.advance(1h);
  EXPECT_THAT(host_.done(), IsEmpty());
}

TEST_F(HostExecutorTest, WhileAllStandsStillSoDoesItsTime) {
  run(1);
  executor_.wake_at(executor_.now() + 5s);
  host_.clock.advance(2s);
  const Instant before = executor_.now();
  executor_.suspend_all();
  listener_.samples = 0;
  host_.clock.advance(1h);
  EXPECT_EQ(executor_.now(), before);
  EXPECT_EQ(listener_.samples, 0);
  executor_.resume_all();
  host_.clock.advance(2999ms);
  EXPECT_THAT(host_.done(), IsEmpty());
  host_.clock.advance(1ms);
  EXPECT_THAT(host_.done(), ElementsAre("scheduler: wake"));
  EXPECT_GT(listener_.samples, 0);
}

TEST_F(HostExecutorTest, TellsOfWhoHasGotAwayAndOfGroupsThatStay) {
  run(1);
  host_.set().exits(0, true);
  host_.set().empty();
  reap::Reaped reaped;
  reaped.left = Error{std::errc::permission_denied, "remove the group job-1"};
  host_.set().gone(reaped);
  host_.done();
  host_.asked->on_escaped({.id = {}, .processes = {{5, "daemon", false}}});
  EXPECT_THAT(host_.done(),
              ElementsAre(HasSubstr("daemon"), HasSubstr("job-1"), "owner: 1 gone, "));
}

TEST_F(HostExecutorTest, AlarmsReachTheScheduler) {
  listener_.limits.reserve = Bytes{std::uint64_t{1} << 60};  // more than any machine has available
  run(1);
  const Instant deadline = loop::now() + 30s;
  while (listener_.alarms.empty() && loop::now() < deadline) {
    ASSERT_TRUE(host_.loop().run_once(1s));
  }
  EXPECT_FALSE(listener_.alarms.empty());
  EXPECT_GT(listener_.looks + listener_.samples, 0);
}

TEST_F(HostExecutorTest, DecisionsAboutAnExternalJobGoElsewhere) {
  Elsewhere elsewhere(host_);
  executor_.enter_external(JobId{1}, listener_, elsewhere);
  run(2);
  start(1);
  executor_.freeze(JobId{1});
  executor_.thaw(JobId{1});
  executor_.reclaim(JobId{1}, 1_MiB);
  executor_.kill(JobId{1}, Outcome::evicted, "for memory");
  EXPECT_THAT(host_.done(),
              ElementsAre("elsewhere: start 1", "elsewhere: freeze 1", "elsewhere: thaw 1",
                          "elsewhere: reclaim 1", "elsewhere: kill 1"));
  executor_.freeze(JobId{2});
  EXPECT_THAT(host_.done(), ElementsAre("freeze"));
}

TEST_F(HostExecutorTest, WhatIsSeenOfAnExternalJobReachesTheScheduler) {
  Elsewhere elsewhere(host_);
  executor_.enter_external(JobId{1}, listener_, elsewhere);
  start(1);
  host_.done();
  executor_.external_sampled(JobId{1}, {.used = 1_GiB});
  executor_.external_sampled(JobId{7}, {.used = 1_GiB});
  EXPECT_EQ(listener_.samples, 1);
  executor_.external_over(JobId{1}, {.outcome = Outcome::exited});
  executor_.external_over(JobId{7}, {.outcome = Outcome::exited});
  EXPECT_THAT(host_.done(), ElementsAre("scheduler: 1 over, exited"));
  job_over(1);
  EXPECT_EQ(executor_.owner_of(JobId{1}), nullptr);
}

// --- starts do not outrun removals

class RemovalsTest : public HostExecutorTest {
 protected:
  // So many jobs have ended, each in its group.
  void end(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      run(++last_);
      host_.set().exits(0);
      host_.set().empty();
    }
    host_.done();
  }
  const std::size_t max_ = executor_.removals_max();
  std::uint64_t last_ = 0;
};

TEST_F(RemovalsTest, BeyondSoManyTheSchedulerHearsOfAnEndWhenARemovalEnds) {
  end(max_);
  EXPECT_EQ(listener_.overs.size(), max_);
  end(2);
  EXPECT_EQ(listener_.overs.size(), max_);
  host_.sets[0]->gone();
  EXPECT_EQ(listener_.overs.back(), JobId{max_ + 1});
  host_.sets[1]->gone();
  EXPECT_EQ(listener_.overs.back(), JobId{max_ + 2});
  host_.sets[2]->gone();
  EXPECT_EQ(listener_.overs.size(), max_ + 2);
  end(1);
  EXPECT_EQ(listener_.overs.size(), max_ + 3) << "there is room again";
}

TEST_F(RemovalsTest, WhoseOwnGroupGoesFirstIsToldBeforeItIsGone) {
  end(max_ + 2);
  host_.sets.back()->gone();
  EXPECT_THAT(host_.done(), ElementsAre("scheduler: " + std::to_string(max_ + 2) + " over, exited",
                                        "owner: " + std::to_string(max_ + 2) + " gone, "));
}

TEST_F(RemovalsTest, GroupsThatAreLeftMakeRoomToo) {
  end(max_ + 1);
  reap::Reaped reaped;
  reaped.left = Error{std::errc::device_or_resource_busy, "remove the group job-1"};
  host_.sets[0]->gone(reaped);
  EXPECT_EQ(listener_.overs.size(), max_ + 1);
}

TEST_F(RemovalsTest, WhoWaitsForAnEscapedProcessHoldsUpNobody) {
  for (std::size_t i = 0; i < max_; ++i) {
    run(++last_);
    host_.set().exits(0, true);
    host_.set().empty();
    host_.set().gone();
    host_.clock.advance(0s);
  }
  EXPECT_THAT(host_.sets, IsEmpty()) << "they have let their groups go";
  EXPECT_EQ(executor_.attempts(), max_);
  end(1);
  EXPECT_EQ(listener_.overs.size(), max_ + 1);
}

}  // namespace
}  // namespace plimsoll::supervisor

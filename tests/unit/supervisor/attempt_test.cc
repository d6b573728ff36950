#include "supervisor/attempt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>

#include "unit/supervisor/attempt_scene.h"

// Starts, causes, time-outs and births.
namespace plimsoll::supervisor {
namespace {

using namespace std::chrono_literals;
using namespace plimsoll::literals;
using policy::Outcome;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using AttemptTest = model::AttemptScene;

TEST_F(AttemptTest, AnOrdinaryEndIsToldWhenTheGroupIsEmptyAndAgainWhenItIsGone) {
  run();
  host_.clock.advance(3s);
  host_.set().exits(2);
  EXPECT_THAT(host_.done(), ElementsAre("reap"));
  host_.set().empty();
  EXPECT_TRUE(attempt_->has_group());
  EXPECT_THAT(host_.done(), ElementsAre("thaw", "told over: exited"));
  host_.set().gone();
  EXPECT_THAT(host_.done(), ElementsAre("told removed", "told gone"));
  EXPECT_EQ(result().end.exit_code, 2);
  EXPECT_EQ(result().end.wall, 3s);
  EXPECT_FALSE(attempt_->has_group());
}

TEST_F(AttemptTest, AnAdoptedProcessEndsWhenItsGroupIsVacated) {
  adopt();
  EXPECT_THAT(host_.done(), ElementsAre("adopt step-1", "let go"));
  host_.clock.advance(3s);
  host_.set().is_vacant = true;
  host_.set().vacated();
  EXPECT_THAT(host_.done(), ElementsAre("reap by force", "thaw", "told over: exited"));
  host_.set().gone();
  EXPECT_THAT(host_.done(), ElementsAre("told removed", "told gone"));
  EXPECT_EQ(result().end.exit_code, std::nullopt) << "only its parent knows";
  EXPECT_EQ(result().end.signal, std::nullopt);
  EXPECT_EQ(result().end.wall, 3s);
}

TEST_F(AttemptTest, AnAdoptedProcessHasItsOutcomeWhereTheKernelTells) {
  using Kind = guardian::WaitStatus::Kind;
  const auto end_of = [this](guardian::WaitStatus status) {
    adopt();
    host_.set().is_vacant = true;
    host_.set().vacated(status);
    host_.set().gone();
    return result().end;
  };
  const auto failed = end_of({.kind = Kind::exited, .value = 3});
  EXPECT_EQ(failed.outcome, Outcome::exited);
  EXPECT_EQ(failed.exit_code, 3);
  const auto crashed = end_of({.kind = Kind::signalled, .value = SIGSEGV});
  EXPECT_EQ(crashed.outcome, Outcome::signalled);
  EXPECT_EQ(crashed.signal, SIGSEGV);
  EXPECT_EQ(result().reason, "was ended by signal SEGV");
}

TEST_F(AttemptTest, AnAdoptedProcessIsFrozenAndKilledAsOthersAre) {
  adopt();
  host_.done();
  attempt_->freeze();
  EXPECT_THAT(host_.done(), ElementsAre("freeze"));
  attempt_->kill(Outcome::over_line, "it does not fit");
  EXPECT_THAT(host_.done(), ElementsAre("reap by force"));
  vanish();
  EXPECT_EQ(result().end.outcome, Outcome::over_line);
  EXPECT_EQ(result().reason, "it does not fit");
}

TEST_F(AttemptTest, WithoutAGroupItFailsToStart) {
  host_.no_set = Error{std::errc::no_space_on_device, "make a group"};
  make().start();
  EXPECT_THAT(host_.done(), IsEmpty()) << "told from the loop";
  host_.clock.advance(0s);
  EXPECT_THAT(host_.done(), ElementsAre("told over: failed_to_start", "told gone"));
  EXPECT_THAT(result().reason, HasSubstr("make a group"));
}

TEST_F(AttemptTest, AGroupThatVanishesBeforeTheBirthIsAFailureToStart) {
  host_.on_new_set = [](model::Set& set) {
    set.no_spawn = Error{std::errc::no_such_device, "open an entrance"};
    set.is_vacant = true;
  };
  make().start();
  EXPECT_THAT(host_.done(), ElementsAre("reap by force", "thaw", "told over: failed_to_start"));
  host_.set().gone();
  EXPECT_THAT(host_.done(), ElementsAre("told removed", "told gone"));
}

TEST_F(AttemptTest, WhatCanNotBeExecutedSaysWhichStepFailed) {
  make().start();
  host_.set().not_born(guardian::SpawnStep::exec, std::errc::no_such_file_or_directory);
  vanish();
  EXPECT_EQ(result().end.outcome, Outcome::failed_to_start);
  EXPECT_THAT(result().reason, HasSubstr("\"/bin/true\""));
  EXPECT_EQ(result().failure->step, guardian::SpawnStep::exec);
}

// --- the first cause wins

TEST_F(AttemptTest, AnOomKillAfterATimeOutChangesNothing) {
  request_.timeout = 10s;
  run();
  host_.clock.advance(10s);
  EXPECT_THAT(host_.done(), ElementsAre("signal TERM", "signal CONT"));
  host_.set().seen.memory.events.oom_kill = 1;
  host_.set().seen.memory.events.oom = 1;
  host_.set().is_killed();
  vanish();
  EXPECT_EQ(result().end.outcome, Outcome::timed_out);
  EXPECT_THAT(result().reason, HasSubstr("longer than 10.0 s"));
  EXPECT_EQ(result().oom->level, policy::OomLevel::own) << "what happened is told all the same";
}

TEST_F(AttemptTest, WhoWasKilledAndExitsWasKilled) {
  run();
  attempt_->kill(Outcome::evicted, "for memory");
  attempt_->kill(Outcome::cancelled, "too late");
  host_.set().exits(0);
  vanish();
  EXPECT_EQ(result().end.outcome, Outcome::evicted);
  EXPECT_EQ(result().reason, "for memory");
  EXPECT_EQ(result().end.exit_code, 0);
}

TEST_F(AttemptTest, WhoHasExitedIsNotKilledAnyMore) {
  run();
  host_.set().exits(0);
  attempt_->kill(Outcome::cancelled, "too late");
  attempt_->time_out("too late");
  vanish();
  EXPECT_EQ(result().end.outcome, Outcome::exited);
}

TEST_F(AttemptTest, ACancelBeforeTheBirthHoldsWhenItIsBornAfterAll) {
  make().start();
  host_.done();
  attempt_->kill(Outcome::cancelled, "by the user");
  EXPECT_THAT(host_.done(), ElementsAre("reap by force"));
  host_.set().empty();
  EXPECT_THAT(host_.done(), ElementsAre("thaw")) << "whoever is being born is not over";
  host_.set().born();
  host_.set().is_killed();
  EXPECT_THAT(host_.done(), ElementsAre("told over: cancelled"));
  host_.set().gone();
  EXPECT_EQ(result().end.signal, SIGKILL);
}

TEST_F(AttemptTest, ACancelBeforeTheBirthHoldsWhenItIsNeverBorn) {
  make().start();
  attempt_->kill(Outcome::cancelled, "by the user");
  vanish();
  host_.set().not_born(guardian::SpawnStep::clone, std::errc::no_such_device);
  EXPECT_EQ(result().end.outcome, Outcome::cancelled);
  EXPECT_EQ(result().reason, "by the user");
}

TEST_F(AttemptTest, WhoeverTheKernelKillsForItsLimitIsOverIt) {
  request_.limits.memory_max = 1_GiB;
  run();
  host_.set().seen.memory.events.oom_kill = 2;
  host_.set().seen.memory.events.oom = 1;
  host_.set().is_killed();
  vanish();
  EXPECT_EQ(result().end.outcome, Outcome::over_limit);
}

TEST_F(AttemptTest, OfAKillThatNoGroupExplainsTheMachineIsBlamed) {
  run();
  host_.set().seen.memory.events.oom_kill = 1;
  host_.set().is_killed();
  vanish();
  EXPECT_EQ(result().end.outcome, Outcome::machine_oom);
}

TEST_F(AttemptTest, WhatTheKernelKillsSinglyIsEndedWhole) {
  host_.on_new_set = [](model::Set& set) { set.kills = OomKills::singly; };
  request_.limits.memory_max = 1_GiB;
  run();
  host_.set().oom();
  EXPECT_THAT(host_.done(), IsEmpty()) << "it tells before it kills";
  host_.set().seen.memory.events.oom_kill = 1;
  host_.set().ooms.count = 1;
  host_.clock.advance(10ms);
  EXPECT_THAT(host_.done(), ElementsAre("reap by force"));
  host_.set().is_killed();
  vanish();
  EXPECT_EQ(result().end.outcome, Outcome::over_limit);
}

// --- time

TEST_F(AttemptTest, TermAtTheTimeOutAndTheKillAfterMoreRunningTime) {
  request_.timeout = 10s;
  request_.kill_after = 5s;
  run();
  host_.clock.advance(10s);
  EXPECT_THAT(host_.done(), ElementsAre("signal TERM", "signal CONT"));
  host_.clock.advance(4s);
  attempt_->suspend();
  host_.clock.advance(1h);
  attempt_->resume();
  host_.clock.advance(999ms);
  EXPECT_THAT(host_.done(), IsEmpty());
  host_.clock.advance(1ms);
  EXPECT_THAT(host_.done(), ElementsAre("reap by force"));
  host_.set().is_killed();
  vanish();
  EXPECT_EQ(result().end.outcome, Outcome::timed_out);
  EXPECT_EQ(result().paused, 1h);
}

TEST_F(AttemptTest, WhoHeedsTheTermHasTimedOutAsWell) {
  request_.timeout = 10s;
  run();
  host_.clock.advance(10s);
  host_.set().exits(0);
  vanish();
  EXPECT_EQ(result().end.outcome, Outcome::timed_out);
}

TEST_F(AttemptTest, APauseStopsTheTimeOut) {
  request_.timeout = 10s;
  run();
  host_.clock.advance(6s);
  attempt_->freeze();
  EXPECT_TRUE(attempt_->is_paused());
  host_.clock.advance(1h);
  attempt_->thaw();
  EXPECT_THAT(host_.done(), ElementsAre("freeze", "thaw"));
  EXPECT_EQ(attempt_->ran(), 6s);
  host_.clock.advance(3999ms);
  EXPECT_THAT(host_.done(), IsEmpty());
  host_.clock.advance(1ms);
  EXPECT_THAT(host_.done(), Contains("signal TERM"));
}

TEST_F(AttemptTest, WhatTheGuardianHeldThePoolForDoesNotCount) {
  request_.timeout = 10s;
  run();
  host_.clock.advance(6s);
  host_.stalled = 3s;
  host_.clock.advance(4s);  // the timer's time is up, and only 7 s have run
  EXPECT_THAT(host_.done(), IsEmpty());
  host_.clock.advance(3s);
  EXPECT_THAT(host_.done(), Contains("signal TERM"));
  host_.set().exits(0);
  vanish();
  EXPECT_EQ(result().paused, 3s);
}

TEST_F(AttemptTest, ATimeOutOfOneThatIsPausedIsAKill) {
  run();
  attempt_->freeze();
  host_.done();
  attempt_->time_out("took too long");
  EXPECT_THAT(host_.done(), ElementsAre("reap by force"));
  host_.set().is_killed();
  vanish();
  EXPECT_EQ(result().end.outcome, Outcome::timed_out);
}

// --- around the birth

TEST_F(AttemptTest, AFreezeWaitsForTheBirth) {
  make().start();
  host_.done();
  attempt_->freeze();
  EXPECT_TRUE(attempt_->is_paused());
  EXPECT_THAT(host_.done(), IsEmpty());
  host_.set().born();
  EXPECT_THAT(host_.done(), ElementsAre("freeze"));
  attempt_->freeze();
  EXPECT_THAT(host_.done(), IsEmpty()) << "it is frozen";
}

TEST_F(AttemptTest, AFreezeThatIsUndoneBeforeTheBirthNeverHappens) {
  make().start();
  attempt_->freeze();
  attempt_->thaw();
  host_.done();
  host_.set().born();
  EXPECT_THAT(host_.done(), IsEmpty());
  EXPECT_FALSE(attempt_->is_paused());
}

TEST_F(AttemptTest, WhatIsReapedIsNotFrozen) {
  run();
  attempt_->kill(Outcome::cancelled, "");
  host_.done();
  attempt_->freeze();
  EXPECT_THAT(host_.done(), IsEmpty());
}

TEST_F(AttemptTest, OneThatWasRefusedCanBeFrozenAndThawedLikeAnyOther) {
  make().refuse("no such user");
  attempt_->freeze();
  attempt_->thaw();
  host_.clock.advance(0s);
  EXPECT_EQ(result().reason, "no such user");
}

TEST_F(AttemptTest, SignalsThatComeTooEarlyAreHandedOnAtTheBirth) {
  sigset_t usr1, before, waiting;
  ::sigemptyset(&usr1);
  ::sigaddset(&usr1, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &usr1, &before);
  make().start();
  attempt_->signal_main(SIGUSR1);
  ::sigpending(&waiting);
  EXPECT_FALSE(::sigismember(&waiting, SIGUSR1));
  host_.set().born(UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0U))));
  ::sigpending(&waiting);
  EXPECT_TRUE(::sigismember(&waiting, SIGUSR1));
  const timespec none{};
  ::sigtimedwait(&usr1, nullptr, &none);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace plimsoll::supervisor

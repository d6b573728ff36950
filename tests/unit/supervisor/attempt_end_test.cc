#include "supervisor/attempt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/kernel/counters/fake_group.h"
#include "unit/supervisor/attempt_scene.h"

// Ends that do not come as they should, samples, and whose door a kernel kill is laid at.
namespace plimsoll::supervisor {
namespace {

using namespace std::chrono_literals;
using namespace plimsoll::literals;
using policy::Outcome;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

using AttemptEndTest = model::AttemptScene;

TEST_F(AttemptEndTest, AStatusThatComesAfterTheGroupIsGoneIsWaitedFor) {
  run();
  attempt_->kill(Outcome::cancelled, "");
  vanish();
  EXPECT_THAT(host_.done(), Not(Contains("told over: cancelled")));
  EXPECT_FALSE(attempt_->has_group());
  host_.set().is_killed();
  EXPECT_THAT(host_.done(), ElementsAre("told over: cancelled", "told gone"));
}

TEST_F(AttemptEndTest, AMainProcessOutsideItsGroupIsLeftWhenNobodyWaitsAnyMore) {
  run();
  attempt_->kill(Outcome::cancelled, "");
  vanish();
  attempt_->give_up_removal();
  EXPECT_FALSE(told_.result) << "a healthy machine needs its time";
  host_.clock.advance(1s);
  host_.done();
  attempt_->give_up_removal();
  EXPECT_THAT(host_.done(), ElementsAre("give up", "forget", "told over: cancelled", "told gone"));
  ASSERT_THAT(result().left_behind, SizeIs(1));
  EXPECT_EQ(result().left_behind[0].pid, 4711);
  EXPECT_EQ(result().left_behind[0].fate, report::LeftFate::lives);
}

TEST_F(AttemptEndTest, AKillThatDoesNotTakeIsToldAndWaitedForUntilItIsGivenUp) {
  run();
  attempt_->kill(Outcome::timed_out, "took too long");
  host_.done();
  host_.set().stuck();
  host_.set().stuck();
  EXPECT_THAT(host_.done(), ElementsAre("told stuck: stone", "told stuck: stone"));
  attempt_->give_up_removal();
  reap::Reaped reaped;
  reaped.survivors = {model::stone()};
  host_.set().gone(reaped);
  EXPECT_THAT(host_.done(),
              ElementsAre("give up", "thaw", "forget", "told over: timed_out", "told gone"));
  ASSERT_THAT(result().left_behind, SizeIs(1));
  EXPECT_EQ(result().left_behind[0].fate, report::LeftFate::lives);
}

TEST_F(AttemptEndTest, AGroupThatCanNotBeRemovedIsNamed) {
  run();
  host_.set().exits(0);
  host_.set().empty();
  reap::Reaped reaped;
  reaped.left = Error{std::errc::permission_denied, "remove the group job-1"};
  host_.set().gone(reaped);
  EXPECT_EQ(result().end.outcome, Outcome::exited);
  EXPECT_THAT(result().group_left->message(), HasSubstr("job-1"));
}

TEST_F(AttemptEndTest, WhoHasEscapedIsWaitedForWithoutTheGroup) {
  run();
  host_.set().exits(0, true);
  host_.set().empty();
  EXPECT_THAT(host_.done(), ElementsAre("reap", "thaw", "over", "told over: exited"));
  host_.set().gone();
  EXPECT_THAT(host_.done(), ElementsAre("told removed")) << "not within the group's own call";
  host_.clock.advance(0s);
  EXPECT_THAT(host_.done(), ElementsAre("closed"));
  attempt_->give_up_removal();
  attempt_->look();
  host_.asked->on_escaped({.id = {}, .processes = {{5, "daemon", false}, {6, "stone", true}}});
  EXPECT_THAT(host_.done(), ElementsAre("told gone"));
  ASSERT_THAT(result().left_behind, SizeIs(2));
  EXPECT_EQ(result().left_behind[0].fate, report::LeftFate::had_left);
  EXPECT_EQ(result().left_behind[1].fate, report::LeftFate::lives);
}

TEST_F(AttemptEndTest, WhatItLeavesOfIpcIsWaitedForWithoutTheGroup) {
  host_.ipc_is_late = true;
  run();
  host_.set().exits(0);
  vanish();
  host_.clock.advance(0s);
  EXPECT_THAT(host_.done(),
              ElementsAre("reap", "thaw", "told over: exited", "told removed", "closed"));
  host_.ipc_asked->on_ipc_settled({report::IpcLeft{.kind = "shm", .name = "1"}});
  EXPECT_THAT(host_.done(), ElementsAre("told gone"));
  EXPECT_THAT(result().ipc_left, SizeIs(1));
}

TEST_F(AttemptEndTest, IpcThatIsSettledSoonHoldsUpNothing) {
  host_.ipc_is_late = true;
  run();
  host_.set().exits(0);
  host_.set().empty();
  host_.ipc_asked->on_ipc_settled({});
  host_.set().gone();
  EXPECT_THAT(host_.done(), Contains("told gone"));
}

TEST_F(AttemptEndTest, WhoeverIsDestroyedInTheMiddleIsForgotten) {
  run();
  attempt_.reset();
  EXPECT_THAT(host_.done(), ElementsAre("forget", "closed"));
}

// --- samples

TEST_F(AttemptEndTest, ForAReportItIsLookedAtAsOftenAsItsRecordWants) {
  run();
  host_.clock.advance(5s);
  EXPECT_EQ(told_.samples, 0);
}

TEST_F(AttemptEndTest, ForDecisionsItIsLookedAtOftenWhileItsMemoryMoves) {
  request_.sampled_for = SampledFor::decisions;
  run();
  for (int look = 0; look < 50; ++look) {
    host_.set().seen.memory.used = Bytes{static_cast<std::uint64_t>(look) << 24};
    host_.clock.advance(policy::SampleInterval::kMin);
  }
  const int moving = std::exchange(told_.samples, 0);
  host_.clock.advance(5s);
  EXPECT_GT(moving, 35);
  EXPECT_LT(told_.samples, 15);
}

// However seldom its record wants a look: who decides is not to take it for asleep when it is not.
TEST_F(AttemptEndTest, ForDecisionsWhatRestsIsLookedAtEveryTwoAndAHalfSeconds) {
  request_.sampled_for = SampledFor::decisions;
  run();
  host_.set().rests = true;
  host_.set().gap = 60s;
  host_.clock.advance(10s);
  told_.samples = 0;
  host_.clock.advance(20s);
  EXPECT_EQ(told_.samples, 8);
  host_.set().rests = false;
  host_.clock.advance(2s);
  told_.samples = 0;
  host_.clock.advance(20s);
  EXPECT_GE(told_.samples, 20);
}

TEST_F(AttemptEndTest, WhatIsPausedIsNotLookedAt) {
  request_.sampled_for = SampledFor::decisions;
  run();
  attempt_->freeze();
  host_.clock.advance(10s);
  attempt_->look();
  EXPECT_EQ(told_.samples, 0);
  attempt_->thaw();
  host_.clock.advance(0s);
  EXPECT_EQ(told_.samples, 1);
}

TEST_F(AttemptEndTest, TheLastLookIsToldBeforeTheEnd) {
  request_.sampled_for = SampledFor::decisions;
  run();
  host_.set().exits(0);
  told_.samples = 0;
  host_.set().empty();
  EXPECT_EQ(told_.samples, 1);
}

// --- the groups above

TEST(AttemptBelowAPool, AKillForThePoolIsLaidAtThePoolsDoor) {
  const counters::FakeDirectory pool(cgroup::Version::v2);
  pool.write("memory.max", "1073741824\n");
  pool.write("memory.events.local", "oom 0\noom_kill 0\n");
  const cgroup::Group group =
      counters::group_of(pool.part(cgroup::ControllerSet(cgroup::Controller::memory)));
  model::Host host(group.of(cgroup::Controller::memory));
  model::Told told(host);
  AttemptRequest request;
  request.spawn.argv = {"/bin/true"};
  Attempt attempt(host, std::move(request), told);
  attempt.start();
  host.set().born();
  host.set().seen.memory.events.oom_kill = 1;
  pool.write("memory.events.local", "oom 1\noom_kill 1\n");
  host.set().is_killed();
  host.set().empty();
  host.set().gone();
  EXPECT_EQ(told.result->end.outcome, Outcome::machine_oom);
  EXPECT_EQ(told.result->oom->level, policy::OomLevel::pool);
  EXPECT_EQ(told.result->oom->limit, 1_GiB);
}

}  // namespace
}  // namespace plimsoll::supervisor

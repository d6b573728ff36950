#include "policy/queue/queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <variant>

#include "eager_starts.h"

namespace plimsoll::policy {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr AttemptEnd kOk{.outcome = Outcome::exited, .exit_code = 0, .wall = 1s};
constexpr AttemptEnd kFailed{.outcome = Outcome::exited, .exit_code = 1, .wall = 1s};

JobSpec job(unsigned id) {
  JobSpec spec;
  spec.id = JobId{id};
  spec.name = std::to_string(id);
  return spec;
}

JobSpec job_needing(unsigned id, std::vector<JobId> needs) {
  JobSpec spec = job(id);
  spec.needs = std::move(needs);
  return spec;
}

JobSpec job_retried(unsigned id, unsigned retries) {
  JobSpec spec = job(id);
  spec.retries = retries;
  return spec;
}

// What is done at one moment.
using Step = std::variant<Start, Action>;

Step start(unsigned id, unsigned slot, unsigned attempt = 1) {
  return Start{.job = JobId{id}, .attempt = attempt, .slot = slot};
}
Step skip(unsigned id) { return Action(Skip{JobId{id}}); }
Step give_up(unsigned id) { return Action(GiveUp{JobId{id}}); }
Step cancel(unsigned id) { return Action(Cancel{JobId{id}}); }

// A queue on simulated time: each call says when it happens, in time since the start of the run.
struct Story {
  explicit Story(QueueConfig config) : queue(std::move(config)), starts(queue) {}

  void enter(const JobSpec& spec) { starts.enter(spec); }
  std::vector<Step> at(Duration t) {
    std::vector<Step> steps;
    reasons.clear();
    for (Decision& decision : queue.settle(Instant(t))) {
      steps.emplace_back(decision.action);
      reasons.push_back(std::move(decision.reason));
    }
    for (const Start& start : starts.at(Instant(t))) steps.emplace_back(start);
    return steps;
  }
  std::optional<Requeue> ends(Duration t, unsigned id, const AttemptEnd& end) {
    return queue.leave(JobId{id}, end, Instant(t));
  }

  Queue queue;
  EagerStarts starts;
  std::vector<std::string> reasons;  // of the last at()
};

TEST(Queue, StartsAsManyAsItMayInOrderOfInput) {
  Story story({.jobs_max = 2});
  for (unsigned id = 1; id <= 4; ++id) story.enter(job(id));
  EXPECT_THAT(story.at(0s), ElementsAre(start(1, 1), start(2, 2)));
  EXPECT_THAT(story.at(1s), IsEmpty());
  EXPECT_EQ(story.queue.next_wake(), std::nullopt);
  EXPECT_EQ(story.ends(2s, 1, kOk), std::nullopt);
  EXPECT_THAT(story.at(2s), ElementsAre(start(3, 1)));
  EXPECT_EQ(story.ends(3s, 2, kFailed), std::nullopt);
  EXPECT_EQ(story.ends(3s, 3, kOk), std::nullopt);
  EXPECT_THAT(story.at(3s), ElementsAre(start(4, 1)));
  EXPECT_EQ(story.ends(4s, 4, kOk), std::nullopt);
  EXPECT_THAT(story.at(4s), IsEmpty());
  EXPECT_EQ(story.queue.unfinished(), 0u);
}

TEST(Queue, HigherPriorityFirstThenInput) {
  Story story({.jobs_max = 1});
  for (const auto& [id, priority] : {std::pair{1u, 0}, {2u, 5}, {3u, -1}, {4u, 5}}) {
    JobSpec spec = job(id);
    spec.priority = priority;
    story.enter(spec);
  }
  std::vector<Step> order;
  for (int i = 0; i < 4; ++i) {
    const auto actions = story.at(0s);
    ASSERT_EQ(actions.size(), 1u);
    order.push_back(actions[0]);
    (void)story.queue.leave(std::get<Start>(actions[0]).job, kOk, Instant(0s));
  }
  EXPECT_THAT(order, ElementsAre(start(2, 1), start(4, 1), start(1, 1), start(3, 1)));
}

TEST(Queue, KeepsTheDelayBetweenStarts) {
  Story story({.jobs_max = 3, .delay = 2s});
  for (unsigned id = 1; id <= 3; ++id) story.enter(job(id));
  EXPECT_THAT(story.at(10s), ElementsAre(start(1, 1)));
  EXPECT_EQ(story.queue.next_wake(), Instant(12s));
  EXPECT_THAT(story.at(11999ms), IsEmpty());
  EXPECT_THAT(story.at(12s), ElementsAre(start(2, 2)));
  EXPECT_THAT(story.at(15s), ElementsAre(start(3, 3)));
  EXPECT_EQ(story.queue.next_wake(), std::nullopt);
}

TEST(Queue, AnotherBoundHoldsFromNowOn) {
  Story story({.jobs_max = 1});
  for (unsigned id = 1; id <= 5; ++id) story.enter(job(id));
  EXPECT_THAT(story.at(0s), ElementsAre(start(1, 1)));
  story.queue.set_jobs_max(3);
  EXPECT_THAT(story.at(1s), ElementsAre(start(2, 2), start(3, 3)));
  story.queue.set_jobs_max(1);
  EXPECT_EQ(story.ends(2s, 1, kOk), std::nullopt);
  EXPECT_EQ(story.ends(2s, 2, kOk), std::nullopt);
  EXPECT_THAT(story.at(2s), IsEmpty());
  EXPECT_EQ(story.ends(3s, 3, kOk), std::nullopt);
  EXPECT_THAT(story.at(3s), ElementsAre(start(4, 1)));
}

TEST(QueueNeeds, WaitForSuccessAlsoOfWhatIsEnteredLater) {
  Story story({.jobs_max = 8});
  story.enter(job_needing(1, {JobId{3}, JobId{2}}));
  EXPECT_THAT(story.at(0s), IsEmpty());
  story.enter(job(2));
  story.enter(job_needing(3, {JobId{2}, JobId{2}}));
  EXPECT_THAT(story.at(0s), ElementsAre(start(2, 1)));
  EXPECT_EQ(story.ends(1s, 2, kOk), std::nullopt);
  EXPECT_THAT(story.at(1s), ElementsAre(start(3, 1)));
  EXPECT_EQ(story.ends(2s, 3, kOk), std::nullopt);
  EXPECT_THAT(story.at(2s), ElementsAre(start(1, 1)));
}

TEST(QueueNeeds, OfAFailedJobAreSkippedWithTheCauseNamed) {
  Story story({.jobs_max = 8});
  JobSpec compile = job(1);
  compile.name = "compile";
  story.enter(compile);
  JobSpec link = job_needing(2, {JobId{1}});
  link.name = "link";
  story.enter(link);
  story.enter(job_needing(3, {JobId{2}}));
  story.enter(job_needing(4, {JobId{2}, JobId{3}}));
  story.enter(job(5));
  EXPECT_THAT(story.at(0s), ElementsAre(start(1, 1), start(5, 2)));
  EXPECT_EQ(story.ends(1s, 1, {.outcome = Outcome::signalled, .signal = SIGSEGV}), std::nullopt);
  EXPECT_THAT(story.at(1s), ElementsAre(skip(2), skip(3), skip(4)));
  EXPECT_THAT(
      story.reasons,
      ElementsAre("not started: it needs compile, which was ended by signal SEGV",
                  "not started: it needs link, which was skipped: compile was ended by signal SEGV",
                  "not started: it needs link, which was skipped: compile was ended by signal "
                  "SEGV"));
  story.enter(job_needing(6, {JobId{5}, JobId{3}}));
  EXPECT_THAT(story.at(2s), ElementsAre(skip(6)));
  EXPECT_EQ(story.queue.unfinished(), 1u);
}

TEST(QueueNeeds, WaitForTheLastRetry) {
  Story story({.jobs_max = 8});
  story.enter(job_retried(1, 1));
  story.enter(job_needing(2, {JobId{1}}));
  EXPECT_THAT(story.at(0s), ElementsAre(start(1, 1)));
  EXPECT_TRUE(story.ends(1s, 1, kFailed));
  EXPECT_THAT(story.at(1s), IsEmpty());
  EXPECT_THAT(story.at(2s), ElementsAre(start(1, 1, 2)));
  EXPECT_EQ(story.ends(3s, 1, kOk), std::nullopt);
  EXPECT_THAT(story.at(3s), ElementsAre(start(2, 1)));
}

TEST(QueueRetries, BackOffWhileOthersRun) {
  Story story({.jobs_max = 1});
  story.enter(job_retried(1, 2));
  story.enter(job(2));
  EXPECT_THAT(story.at(0s), ElementsAre(start(1, 1)));
  auto again = story.ends(10s, 1, kFailed);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->not_before, Instant(11s));
  EXPECT_EQ(again->reason, "attempt 1 exited with code 1; retry 1 of 2 in 1 s");
  EXPECT_THAT(story.at(10s), ElementsAre(start(2, 1)));
  EXPECT_EQ(story.queue.next_wake(), std::nullopt);
  EXPECT_EQ(story.ends(10500ms, 2, kOk), std::nullopt);
  EXPECT_THAT(story.at(10500ms), IsEmpty());
  EXPECT_EQ(story.queue.next_wake(), Instant(11s));
  EXPECT_THAT(story.at(11s), ElementsAre(start(1, 1, 2)));
  again = story.ends(20s, 1, {.outcome = Outcome::timed_out, .signal = SIGKILL});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->reason, "attempt 2 timed out; retry 2 of 2 in 2 s");
  EXPECT_THAT(story.at(22s), ElementsAre(start(1, 1, 3)));
  EXPECT_EQ(story.ends(23s, 1, kFailed), std::nullopt);
  EXPECT_EQ(story.queue.unfinished(), 0u);
}

TEST(QueueRetries, AreForFailuresThatMayPass) {
  for (const Outcome outcome : {Outcome::exited, Outcome::signalled, Outcome::timed_out}) {
    Story story({});
    story.enter(job_retried(1, 1));
    (void)story.at(0s);
    EXPECT_TRUE(story.ends(0s, 1, {.outcome = outcome, .exit_code = 3})) << name_of(outcome);
  }
  for (const Outcome outcome :
       {Outcome::over_limit, Outcome::over_line, Outcome::cancelled, Outcome::failed_to_start}) {
    Story story({});
    story.enter(job_retried(1, 1));
    (void)story.at(0s);
    EXPECT_FALSE(story.ends(0s, 1, {.outcome = outcome})) << name_of(outcome);
  }
}

TEST(QueueRetries, LostAttemptsDoNotCountButAreBounded) {
  Story story({});
  story.enter(job_retried(1, 1));
  Duration now{};
  unsigned attempt = 0;
  for (unsigned i = 1; i <= kLostAttemptsMax; ++i) {
    EXPECT_THAT(story.at(now), ElementsAre(start(1, 1, ++attempt)));
    const auto again =
        story.ends(now, 1, {.outcome = i % 2 == 0 ? Outcome::evicted : Outcome::machine_oom});
    ASSERT_TRUE(again) << i;
    now = again->not_before.time_since_epoch();
  }
  EXPECT_THAT(story.at(now), ElementsAre(start(1, 1, ++attempt)));
  EXPECT_TRUE(story.ends(now, 1, kFailed));  // its one retry is still there
  now += 1s;
  EXPECT_THAT(story.at(now), ElementsAre(start(1, 1, ++attempt)));
  EXPECT_FALSE(story.ends(now, 1, {.outcome = Outcome::evicted}));
}

TEST(QueueRetries, WhatIsNotRestartableIsLostOnce) {
  Story story({});
  JobSpec spec = job(1);
  spec.restartable = false;
  story.enter(spec);
  (void)story.at(0s);
  EXPECT_FALSE(story.ends(0s, 1, {.outcome = Outcome::machine_oom}));
}

TEST(QueueHalt, SoonSkipsTheRestAndLetsTheRunningEnd) {
  Story story({.jobs_max = 2, .halt = *parse_halt("soon,fail=1")});
  for (unsigned id = 1; id <= 3; ++id) story.enter(job_retried(id, 1));
  story.enter(job_needing(4, {JobId{3}}));
  (void)story.at(0s);
  EXPECT_TRUE(story.ends(1s, 1, kFailed));
  EXPECT_THAT(story.at(2s), ElementsAre(start(1, 1, 2)));  // before 3, which was entered later
  EXPECT_FALSE(story.ends(3s, 1, kFailed));
  EXPECT_THAT(story.at(3s), ElementsAre(skip(3), skip(4)));
  EXPECT_EQ(story.reasons[0], "not started: halted by soon,fail=1: 1 of 4 jobs failed");
  EXPECT_EQ(story.queue.next_wake(), std::nullopt);
  EXPECT_FALSE(story.ends(4s, 2, kFailed));  // no retry once stopped
  EXPECT_EQ(story.queue.unfinished(), 0u);
  story.enter(job(5));
  EXPECT_THAT(story.at(5s), ElementsAre(skip(5)));
}

TEST(QueueHalt, NowCancelsTheRunningOnce) {
  Story story({.jobs_max = 3, .halt = *parse_halt("now,success=1")});
  for (unsigned id = 1; id <= 4; ++id) story.enter(job(id));
  (void)story.at(0s);
  EXPECT_FALSE(story.ends(1s, 2, kOk));
  EXPECT_THAT(story.at(1s), ElementsAre(cancel(1), cancel(3), skip(4)));
  EXPECT_THAT(story.at(2s), IsEmpty());
  EXPECT_FALSE(story.ends(2s, 1, {.outcome = Outcome::cancelled}));
  EXPECT_FALSE(story.ends(2s, 3, kOk));
  EXPECT_EQ(story.queue.unfinished(), 0u);
}

TEST(QueueHalt, WhatStoppedItIsKeptAsItWasThen) {
  Story story({.jobs_max = 3, .halt = *parse_halt("soon,fail=1")});
  for (unsigned id = 1; id <= 4; ++id) story.enter(job(id));
  (void)story.at(0s);
  EXPECT_FALSE(story.ends(1s, 2, kOk));
  EXPECT_FALSE(story.queue.halted());
  EXPECT_FALSE(story.ends(2s, 1, {.outcome = Outcome::exited, .exit_code = 7}));
  EXPECT_FALSE(story.ends(3s, 3, kFailed));
  story.queue.interrupt();
  ASSERT_TRUE(story.queue.halted());
  EXPECT_EQ(story.queue.halted()->last.exit_code, 7);
  EXPECT_EQ(story.queue.halted()->tally.failed, 1u);
  EXPECT_EQ(story.queue.halted()->tally.succeeded, 1u);
  EXPECT_EQ(story.queue.halted()->tally.entered, 4u);
}

TEST(QueueHalt, AWaitForARetryIsGivenUp) {
  Story story({.jobs_max = 2});
  story.enter(job_retried(1, 5));
  story.enter(job_needing(2, {JobId{1}}));
  (void)story.at(0s);
  EXPECT_TRUE(story.ends(1s, 1, kFailed));
  story.queue.interrupt();
  EXPECT_THAT(story.at(1s), ElementsAre(give_up(1), skip(2)));
  EXPECT_THAT(story.reasons, ElementsAre("not tried again: the run was interrupted",
                                         "not started: the run was interrupted"));
  EXPECT_EQ(story.queue.unfinished(), 0u);
}

TEST(QueueInterrupt, TheFirstStopsStartingTheSecondCancels) {
  Story story({.jobs_max = 2});
  for (unsigned id = 1; id <= 4; ++id) story.enter(job(id));
  (void)story.at(0s);
  story.queue.interrupt();
  EXPECT_THAT(story.at(1s), ElementsAre(skip(3), skip(4)));
  EXPECT_FALSE(story.ends(2s, 1, kOk));
  story.queue.interrupt();
  EXPECT_THAT(story.at(3s), ElementsAre(cancel(2)));
  EXPECT_THAT(story.reasons, ElementsAre(HasSubstr("interrupted")));
  story.queue.interrupt();
  EXPECT_THAT(story.at(4s), IsEmpty());
}

TEST(QueueInterrupt, OfAHaltThatWaitsTheSecondCancels) {
  Story story({.jobs_max = 2, .halt = *parse_halt("soon,done=1")});
  for (unsigned id = 1; id <= 3; ++id) story.enter(job(id));
  (void)story.at(0s);
  EXPECT_FALSE(story.ends(1s, 1, kOk));
  story.queue.interrupt();
  EXPECT_THAT(story.at(1s), ElementsAre(skip(3)));
  EXPECT_THAT(story.reasons, ElementsAre(::testing::Not(HasSubstr("interrupted"))))
      << "the first cause";
  story.queue.interrupt();
  EXPECT_THAT(story.at(2s), ElementsAre(cancel(2)));
}

TEST(QueueWithdraw, AJobThatWaitsEndsWithoutAnAttempt) {
  Story story({.jobs_max = 1});
  for (unsigned id = 1; id <= 3; ++id) story.enter(job(id));
  story.enter(job_needing(4, {JobId{2}}));
  EXPECT_THAT(story.at(0s), ElementsAre(start(1, 1)));
  EXPECT_FALSE(story.queue.is_waiting(JobId{1}));
  EXPECT_TRUE(story.queue.is_waiting(JobId{2}));
  story.queue.withdraw(JobId{2}, "nobody wants it");
  story.queue.withdraw(JobId{2}, "twice");
  EXPECT_THAT(story.at(1s), ElementsAre(skip(2), skip(4)));
  EXPECT_THAT(story.reasons.front(), HasSubstr("nobody wants it"));
  EXPECT_FALSE(story.ends(2s, 1, kOk));
  EXPECT_THAT(story.at(2s), ElementsAre(start(3, 1)));
}

TEST(QueueWithdraw, AWaitForARetryIsGivenUp) {
  Story story({.jobs_max = 1});
  story.enter(job_retried(1, 1));
  (void)story.at(0s);
  ASSERT_TRUE(story.ends(1s, 1, kFailed));
  story.queue.withdraw(JobId{1}, "nobody wants it");
  EXPECT_THAT(story.at(1s), ElementsAre(give_up(1)));
  EXPECT_THAT(story.at(100s), IsEmpty());
  EXPECT_EQ(story.queue.unfinished(), 0u);
}

TEST(QueueRequeue, NoMoreRestartsThanTheJobAllows) {
  Story story({.jobs_max = 1});
  JobSpec spec = job(1);
  spec.restarts = 0;
  story.enter(spec);
  (void)story.at(0s);
  EXPECT_FALSE(story.ends(1s, 1, {.outcome = Outcome::evicted}));
  EXPECT_EQ(story.queue.unfinished(), 0u);
}

// An id of a job that has ended may come again: nothing is known of it any more.
TEST(QueueMemory, WhatHasEndedIsForgottenWhereNobodyNeedsIt) {
  Story story({.jobs_max = 1, .ended = Ended::forgotten});
  for (int round = 0; round < 3; ++round) {
    story.enter(job(1));
    EXPECT_THAT(story.at(0s), ElementsAre(start(1, 1)));
    EXPECT_FALSE(story.ends(0s, 1, kOk));
  }
}

TEST(QueueTimeout, OwnBeforeTheRuns) {
  Story story({.jobs_max = 9, .timeout = MedianPercent{200}});
  JobSpec own = job(1);
  own.timeout = 5s;
  story.enter(own);
  for (unsigned id = 2; id <= 5; ++id) story.enter(job(id));
  (void)story.at(0s);
  AttemptEnd end = kOk;
  for (const unsigned id : {2u, 3u, 4u}) {
    EXPECT_EQ(story.queue.timeout_of(JobId{5}), std::nullopt);
    end.wall = std::chrono::seconds(id);
    EXPECT_FALSE(story.ends(10s, id, end));
  }
  EXPECT_EQ(story.queue.timeout_of(JobId{5}), 6s);
  EXPECT_EQ(story.queue.timeout_of(JobId{1}), 5s);
}

}  // namespace
}  // namespace plimsoll::policy

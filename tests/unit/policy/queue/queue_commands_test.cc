#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/queue/queue.h"

namespace plimsoll::policy {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr JobId kJob{1}, kCommand{2}, kOther{3};
constexpr AttemptEnd kGood{.outcome = Outcome::exited, .exit_code = 0, .wall = 1s};
constexpr AttemptEnd kBad{.outcome = Outcome::exited, .exit_code = 1, .wall = 1s};

// A job that runs, and a command of it that is ready.
struct QueueCommands : ::testing::Test {
  explicit QueueCommands(QueueConfig config = {.jobs_max = 1,
                                               .halt = HaltPolicy{.threshold = JobCount{1}}})
      : queue(config) {
    JobSpec job;
    job.id = kJob;
    queue.enter(job);
    EXPECT_THAT(queue.settle(at), IsEmpty());
    EXPECT_THAT(queue.take_ready(), ElementsAre(kJob));
    EXPECT_EQ(queue.start(kJob, at).slot, 1U);
    command(kCommand);
  }
  void command(JobId id) {
    JobSpec spec;
    spec.id = id;
    spec.part_of = kJob;
    spec.restarts = 0;
    queue.enter(spec);
  }
  Instant at{100s};
  Queue queue;
};

TEST_F(QueueCommands, OneThatIsAwaitedMayStartWithoutAPlace) {
  JobSpec spec;
  spec.id = kOther;
  spec.may_be_awaited = true;
  queue.enter(spec);
  EXPECT_THAT(queue.settle(at), IsEmpty());
  EXPECT_THAT(queue.take_ready(), ElementsAre(kCommand, kOther));
  EXPECT_EQ(queue.room(at), 0U);
  EXPECT_EQ(queue.start(kOther, at).slot, 2U);
  EXPECT_EQ(queue.room(at), 0U);
  EXPECT_EQ(queue.leave(kOther, kGood, at), std::nullopt);
}

TEST_F(QueueCommands, TakeNoPlaceAndNoSlot) {
  EXPECT_THAT(queue.settle(at), IsEmpty());
  EXPECT_THAT(queue.take_ready(), ElementsAre(kCommand));
  EXPECT_EQ(queue.room(at), 0U);
  EXPECT_EQ(queue.start(kCommand, at).slot, 0U);
  JobSpec next;
  next.id = kOther;
  queue.enter(next);
  EXPECT_FALSE(queue.leave(kJob, kGood, at));
  EXPECT_EQ(queue.room(at), 1U);
  EXPECT_EQ(queue.start(kOther, at).slot, 1U);
  EXPECT_EQ(queue.commands(), 1U);
  EXPECT_EQ(queue.unfinished(), 2U);
}

TEST_F(QueueCommands, ThatFailHaltNothingAndAreNotTriedAgain) {
  EXPECT_EQ(queue.start(kCommand, at).job, kCommand);
  EXPECT_FALSE(queue.leave(kCommand, kBad, at));
  EXPECT_FALSE(queue.is_stopping());
  EXPECT_EQ(queue.commands(), 0U);
  command(kOther);
  EXPECT_EQ(queue.start(kOther, at).job, kOther);
  EXPECT_FALSE(queue.leave(kOther, {.outcome = Outcome::evicted, .wall = 1s}, at));
  EXPECT_FALSE(queue.is_stopping());
}

TEST_F(QueueCommands, StartForAsLongAsTheirJobsMayEnd) {
  queue.interrupt();
  EXPECT_THAT(queue.settle(at), IsEmpty());
  EXPECT_TRUE(queue.is_waiting(kCommand));
  EXPECT_EQ(queue.start(kCommand, at).job, kCommand);
  command(kOther);
  queue.interrupt();
  std::vector<Action> done;
  for (const Decision& decision : queue.settle(at)) done.push_back(decision.action);
  EXPECT_THAT(done,
              ElementsAre(Action(Cancel{kJob}), Action(Cancel{kCommand}), Action(Skip{kOther})));
}

TEST_F(QueueCommands, HaveNoTimeOutButTheirJobs) {
  Queue timed({.timeout = 5s});
  JobSpec job;
  job.id = kJob;
  timed.enter(job);
  job.id = kCommand;
  job.part_of = kJob;
  timed.enter(job);
  EXPECT_EQ(timed.timeout_of(kJob), Duration(5s));
  EXPECT_EQ(timed.timeout_of(kCommand), std::nullopt);
}

}  // namespace
}  // namespace plimsoll::policy

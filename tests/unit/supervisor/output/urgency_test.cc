#include "supervisor/output/urgency.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace plimsoll::output {
namespace {

int policy() { return ::sched_getscheduler(0); }

// On a thread of its own, which it changes.
TEST(Urgency, IsLessThanThatOfJobsUnlessTheyWriteMuch) {
  std::thread([] {
    ASSERT_EQ(policy(), SCHED_OTHER);
    const Instant begin{};
    Urgency urgency;
    EXPECT_EQ(policy(), SCHED_BATCH);
    urgency.note(kFloodBytes - 1, begin);
    EXPECT_EQ(policy(), SCHED_BATCH);
    urgency.note(kFloodBytes, begin + kFloodTime / 2);
    EXPECT_EQ(policy(), SCHED_OTHER);
    urgency.note(2 * kFloodBytes - 1, begin + kFloodTime);
    EXPECT_EQ(policy(), SCHED_OTHER);
    urgency.note(2 * kFloodBytes - 1, begin + 2 * kFloodTime);
    EXPECT_EQ(policy(), SCHED_BATCH);
  }).join();
}

TEST(Urgency, StaysLessWhileTheyWriteLittle) {
  std::thread([] {
    const Instant begin{};
    Urgency urgency;
    std::uint64_t moved = 0;
    for (int turn = 0; turn < 10; ++turn) {
      urgency.note(moved += kFloodBytes / 4, begin + turn * kFloodTime);
      EXPECT_EQ(policy(), SCHED_BATCH);
    }
  }).join();
}

TEST(Urgency, IsTheUsersToChoose) {
  std::thread([] {
    const sched_param parameters{};
    ASSERT_EQ(::sched_setscheduler(0, SCHED_IDLE, &parameters), 0);
    Urgency urgency;
    urgency.note(kFloodBytes, Instant{});
    EXPECT_EQ(policy(), SCHED_IDLE);
  }).join();
}

}  // namespace
}  // namespace plimsoll::output

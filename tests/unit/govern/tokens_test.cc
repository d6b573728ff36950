#include "govern/tokens.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace plimsoll::govern {
namespace {

using namespace std::chrono_literals;
using policy::HoldCause;
using policy::PauseCause;

policy::SchedulerStatus machine(double cores) {
  policy::SchedulerStatus status;
  status.cores = cores;
  return status;
}

policy::JobStatus paused_for(PauseCause cause) {
  policy::JobStatus job;
  job.state = policy::JobState::frozen;
  job.paused_for = cause;
  return job;
}

policy::Holding holding(HoldCause cause) {
  policy::Holding held;
  held.cause = cause;
  return held;
}

TEST(Slots, AreTheCoresOfTheShare) {
  EXPECT_EQ(slots_of(machine(8), 0).own, 8u);
  EXPECT_EQ(slots_of(machine(2.95), 0).own, 3u);
  EXPECT_EQ(slots_of(machine(2.5), 0).own, 2u);
  EXPECT_EQ(slots_of(machine(0.2), 0).own, 1u);
  EXPECT_EQ(slots_of(machine(1e9), 0).own, Tokens::kMost);
  auto few = machine(8);
  few.jobs_max = 3;
  EXPECT_EQ(slots_of(few, 0).own, 3u);
}

TEST(Slots, OfAShareAreOneACoreWithinTheMostJobs) {
  EXPECT_EQ(slots_of_share(8, 0), 8u);
  EXPECT_EQ(slots_of_share(8, 1), 1u);
  EXPECT_EQ(slots_of_share(2, 3), 2u);
}

TEST(Slots, SmallStepsRunAsOthersDo) {
  auto status = machine(8);
  status.running = 3;
  EXPECT_EQ(slots_of(status, 2).running, 5u);
}

TEST(Slots, StepsHeldForMemoryLendTheirs) {
  auto status = machine(4);
  status.waiting = 3;
  status.holding = holding(HoldCause::memory);
  EXPECT_EQ(slots_of(status, 0).lent, 3u);
  status.waiting = 100;
  EXPECT_EQ(slots_of(status, 0).lent, 4u);  // or each that is begun instead would be held too
  status.holding = holding(HoldCause::cores);
  EXPECT_EQ(slots_of(status, 0).lent, 0u);  // no core is free for another
}

TEST(Slots, StepsThatTheUserPausedLendTheirs) {
  auto status = machine(4);
  status.jobs = {paused_for(PauseCause::user), paused_for(PauseCause::cores)};
  EXPECT_EQ(slots_of(status, 0).lent, 1u);
  EXPECT_FALSE(slots_of(status, 0).short_of_memory);
}

TEST(Slots, NothingIsBegunWhileMemoryIsShort) {
  auto status = machine(4);
  status.jobs = {paused_for(PauseCause::memory)};
  EXPECT_TRUE(slots_of(status, 0).short_of_memory);
  auto later = machine(4);
  later.waiting = 1;
  later.holding = holding(HoldCause::calm);
  EXPECT_TRUE(slots_of(later, 0).short_of_memory);
}

// A pipe, and clients that take tokens from it and put them back.
class TokensTest : public ::testing::Test {
 protected:
  TokenChange look(const Slots& slots, std::optional<std::size_t> holders, Duration at) {
    const TokenChange change = tokens.look(slots, free, holders, Instant(at));
    free += change.put;
    free -= change.take;
    tokens.put(change.put);
    tokens.took(change.take);
    return change;
  }
  void take(std::size_t count) { free -= count; }
  void give(std::size_t count) { free += count; }

  Tokens tokens;
  std::size_t free = 0;
};

TEST_F(TokensTest, OneSlotIsImplicit) {
  look({.own = 4}, 0, 0s);
  EXPECT_EQ(free, 3u);
  take(2);
  look({.own = 4, .running = 3}, 2, 1s);
  EXPECT_EQ(free, 1u);
  give(2);
  look({.own = 1}, 0, 2s);
  EXPECT_EQ(free, 0u);
}

TEST_F(TokensTest, WhatIsLentIsTakenBackAsItComes) {
  look({.own = 2}, 0, 0s);
  take(1);
  look({.own = 2, .lent = 2, .running = 0}, 1, 1s);
  EXPECT_EQ(free, 2u);
  take(2);
  const TokenChange after = look({.own = 2, .running = 2}, 3, 2s);
  EXPECT_TRUE(after.takes_what_comes);
  give(3);
  EXPECT_FALSE(look({.own = 2}, 0, 3s).takes_what_comes);
  EXPECT_EQ(free, 1u);
  EXPECT_EQ(tokens.issued(), 1u);
}

TEST_F(TokensTest, NothingIsFreeWhileMemoryIsShort) {
  look({.own = 8}, 0, 0s);
  take(3);
  look({.own = 8, .running = 4, .short_of_memory = true}, 3, 1s);
  EXPECT_EQ(free, 0u);
  EXPECT_EQ(tokens.issued(), 3u);
  look({.own = 8, .running = 4}, 3, 2s);
  EXPECT_EQ(free, 4u);
}

// Two makes, each with a command in its implicit slot, and steps of somebody who knows no tokens.
TEST_F(TokensTest, ImplicitSlotsOfSeveralClientsCount) {
  look({.own = 4}, 0, 0s);
  look({.own = 4, .running = 5}, 5, 1s);
  EXPECT_EQ(free, 0u);
  look({.own = 4, .running = 3}, 3, 2s);
  EXPECT_EQ(free, 1u);
}

TEST_F(TokensTest, TokensOfTheDeadComeBackOnceNobodyCouldHaveThem) {
  look({.own = 4}, 0, 0s);
  take(3);
  look({.own = 4}, 3, 1s);
  EXPECT_EQ(free, 0u);
  look({.own = 4}, 1, 2s);  // two were killed
  EXPECT_EQ(free, 0u);
  look({.own = 4}, 1, 2s + Tokens::kPatience);
  EXPECT_EQ(free, 2u);
  EXPECT_EQ(tokens.recovered(), 2u);
  look({.own = 4}, 0, 10s);
  look({.own = 4}, 0, 10s + Tokens::kPatience);
  EXPECT_EQ(free, 3u);
  EXPECT_EQ(tokens.recovered(), 3u);
}

// The client has its token a little before its command, and a little longer.
TEST_F(TokensTest, AMomentWithoutAHolderIsNoLoss) {
  look({.own = 4}, 0, 0s);
  take(3);
  for (Duration at = 1s; at < 60s; at += 200ms) {
    look({.own = 4}, at % 1s == 0s ? 3 : 1, at);
  }
  EXPECT_EQ(free, 0u);
  EXPECT_EQ(tokens.recovered(), 0u);
}

TEST_F(TokensTest, WhoMayHoldSeveralIsWaitedFor) {
  look({.own = 4}, 0, 0s);
  take(3);
  for (Duration at = 1s; at < 60s; at += 1s) look({.own = 4}, std::nullopt, at);
  EXPECT_EQ(free, 0u);
}

// It lived after all, unseen: one too many for a while, and more patience from then on.
TEST_F(TokensTest, ATokenThatWasNotLostIsCountedAgain) {
  look({.own = 2}, 0, 0s);
  take(1);
  look({.own = 2}, 0, 1s);
  look({.own = 2}, 0, 1s + Tokens::kPatience);
  EXPECT_EQ(free, 1u);
  give(1);
  look({.own = 2}, 0, 10s);
  EXPECT_EQ(free, 1u);
  EXPECT_EQ(tokens.recovered(), 0u);
  take(1);
  look({.own = 2}, 0, 11s);
  look({.own = 2}, 0, 11s + Tokens::kPatience);
  EXPECT_EQ(free, 0u);
  look({.own = 2}, 0, 11s + 2 * Tokens::kPatience);
  EXPECT_EQ(free, 1u);
}

// Clients come, take, give back and are killed; slots change; the pipe is looked at now and then.
RC_GTEST_PROP(TokensProperty, TokensAreConserved, ()) {
  Tokens tokens;
  std::size_t free = 0, lost = 0;
  std::vector<std::size_t> clients;  // what each holds: 0 or 1
  Instant now{};
  const auto look = [&](const Slots& slots) {
    const auto holders = clients.size();
    const TokenChange change = tokens.look(slots, free, holders, now);
    RC_ASSERT(change.put == 0 || change.take == 0);
    RC_ASSERT(change.take <= free);
    free = free + change.put - change.take;
    tokens.put(change.put);
    tokens.took(change.take);
    const auto held = static_cast<std::size_t>(std::count(clients.begin(), clients.end(), 1));
    RC_ASSERT(tokens.issued() >= free + held);         // nobody is robbed
    RC_ASSERT(tokens.issued() <= free + held + lost);  // nothing is made of nothing
    // No more may run than there are slots, but for those that had begun before.
    if (change.put > 0) RC_ASSERT(tokens.issued() < slots.own + slots.lent);
    lost = tokens.issued() - free - held;
  };
  Slots slots;
  for (const int event : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 8))) {
    now += 300ms;
    if (event <= 1) clients.push_back(0);
    if (event == 2 && free > 0) {
      const auto idle = std::find(clients.begin(), clients.end(), 0u);
      if (idle != clients.end()) *idle = 1, --free;
    }
    if (event == 3) {
      const auto busy = std::find(clients.begin(), clients.end(), 1u);
      if (busy != clients.end()) *busy = 0, ++free;
    }
    if (event == 4 && !clients.empty()) {  // kill -9
      lost += clients.back();
      clients.pop_back();
    }
    if (event == 5) {
      slots.own = *rc::gen::inRange<std::size_t>(1, 9);
      slots.lent = *rc::gen::inRange<std::size_t>(0, slots.own + 1);
      slots.short_of_memory = *rc::gen::arbitrary<bool>();
    }
    if (event >= 6) look(slots);
  }
  // Whoever lives gives back, ends; then all is as at first.
  for (const std::size_t held : clients) free += held;
  clients.clear();
  slots.short_of_memory = false;
  for (int turn = 0; turn < 3; ++turn) {
    look(slots);
    now += Tokens::kPatienceMost;
  }
  RC_ASSERT(free == slots.own + slots.lent - 1);
  RC_ASSERT(tokens.issued() == free);
}

}  // namespace
}  // namespace plimsoll::govern

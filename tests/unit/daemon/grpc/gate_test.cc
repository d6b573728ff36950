#include "daemon/grpc/gate.h"

#include <gtest/gtest.h>
#include <time.h>

#include <string>

#include "daemon/grpc/call_pace.h"

namespace plimsoll::daemon {
namespace {

constexpr policy::Tenant kAlice{1001}, kBob{1002};

// As many of his as there may be; nothing runs before the loop turns.
std::size_t fill(Gate& gate, policy::Tenant user) {
  std::size_t count = 0;
  while (gate.post(user, [] {})) ++count;
  return count;
}

void let_through(loop::Loop& loop, const Gate& gate) {
  while (gate.waiting() > 0) ASSERT_TRUE(loop.run_once(std::chrono::milliseconds(10)));
}

TEST(Gate, OneUsersFloodIsHisOwn) {
  loop::Loop loop = std::move(*loop::Loop::create());
  Gate gate(loop);
  EXPECT_EQ(fill(gate, kAlice), Gate::kOfUserMax);
  bool heard = false;
  EXPECT_TRUE(gate.post(kBob, [&] { heard = true; }));
  let_through(loop, gate);
  EXPECT_TRUE(heard);
  EXPECT_TRUE(gate.post(kAlice, [] {}));
  let_through(loop, gate);
}

TEST(Gate, TheHostIsHeardWhateverOthersSay) {
  loop::Loop loop = std::move(*loop::Loop::create());
  Gate gate(loop);
  std::uint32_t uid = 1000;
  while (fill(gate, policy::Tenant{++uid}) > 0) continue;
  EXPECT_EQ(gate.waiting(), Gate::kWaitingMax);
  EXPECT_TRUE(gate.post(policy::kHost, [] {}));
  let_through(loop, gate);
}

TEST(Gate, UsersTakeTurns) {
  loop::Loop loop = std::move(*loop::Loop::create());
  Gate gate(loop);
  std::string order;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(gate.post(kAlice, [&] { order += 'a'; }));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(gate.post(kBob, [&] { order += 'b'; }));
  let_through(loop, gate);
  EXPECT_EQ(order, "abab" + std::string(98, 'a'));
}

TEST(Gate, WhatTheLoopHasToDoBesideComesBetween) {
  loop::Loop loop = std::move(*loop::Loop::create());
  Gate gate(loop);
  std::string order;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(gate.post(kAlice, [&] { order += 'a'; }));
  loop.poster()([&] { order += '.'; });
  let_through(loop, gate);
  EXPECT_EQ(order, "a." + std::string(99, 'a'));
}

Duration processor_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Each of hers takes 10 ms of the loop's time: of a processor, which others may want too. How many
// are let through depends on how long it all takes.
TEST(Gate, WhoTakesLongLeavesMostOfTheTimeToOthers) {
  loop::Loop loop = std::move(*loop::Loop::create());
  Gate gate(loop);
  constexpr Duration kCost = std::chrono::milliseconds(10);
  constexpr Duration kGap = (kCost - CallPace::kShort) * (CallPace::kPart * CallPace::kWholeWay);
  int hers = 0, his = 0, alone = 0;
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(gate.post(kAlice, [&] {
      ++hers;
      const Duration end = processor_time() + kCost;
      while (processor_time() < end) continue;
    }));
  }
  const Instant begun = loop::now();
  Instant came = begun;
  for (int i = 0; i < 300; ++i) {
    const int before = his;
    if (loop::now() - came > CallPace::kPresent) ++alone;
    came = loop::now();
    ASSERT_TRUE(gate.post(kBob, [&] { ++his; }));
    while (his == before) ASSERT_TRUE(loop.run_once(std::chrono::milliseconds(10)));
    const Instant next = loop::now() + std::chrono::milliseconds(1);
    while (loop::now() < next) ASSERT_TRUE(loop.run_once(next - loop::now()));
  }
  const auto gaps = (loop::now() - begun + CallPace::kAhead) / kGap;
  EXPECT_LE(hers, 2 + gaps + alone);
  gate.close();
  let_through(loop, gate);
  EXPECT_EQ(hers, 50) << "what is closed holds nobody back";
}

TEST(Gate, WhatMustNotBeLostIsItsUsersAlone) {
  loop::Loop loop = std::move(*loop::Loop::create());
  Gate gate(loop);
  for (std::size_t i = 0; i < Gate::kWaitingMax; ++i) gate.post_always(kAlice, [] {});
  EXPECT_FALSE(gate.post(kAlice, [] {}));
  EXPECT_TRUE(gate.post(kBob, [] {}));
  let_through(loop, gate);
  EXPECT_TRUE(gate.post(kAlice, [] {}));
  let_through(loop, gate);
}

// The loop has next to nothing to do for it; others have.
TEST(Gate, WhatTookLongToReadCountsForMuchMore) {
  loop::Loop loop = std::move(*loop::Loop::create());
  Gate gate(loop);
  EXPECT_TRUE(gate.post(kBob, [] {}));
  EXPECT_TRUE(gate.post(kAlice, [] {}, {.reading = std::chrono::milliseconds(3)}));
  let_through(loop, gate);
  EXPECT_GT(gate.next_beside(kAlice), loop::now() + std::chrono::milliseconds(500));
  const Instant his = gate.next_beside(kBob);
  EXPECT_LE(his, loop::now());
}

TEST(Gate, TheBytesOfOneUserAreCounted) {
  loop::Loop loop = std::move(*loop::Loop::create());
  Gate gate(loop);
  constexpr std::size_t kHalf = Gate::kBytesOfUserMax / 2;
  EXPECT_TRUE(gate.post(kAlice, [] {}, {.bytes = 3 * kHalf})) << "one always passes";
  EXPECT_FALSE(gate.post(kAlice, [] {}, {.bytes = 1}));
  EXPECT_TRUE(gate.post(kAlice, [] {})) << "what is small and of a fixed size is not among these";
  EXPECT_TRUE(gate.post(kBob, [] {}, {.bytes = kHalf}));
  EXPECT_TRUE(gate.post(kBob, [] {}, {.bytes = kHalf}));
  EXPECT_FALSE(gate.post(kBob, [] {}, {.bytes = 1}));
  let_through(loop, gate);
  EXPECT_TRUE(gate.post(kAlice, [] {}, {.bytes = 1}));
  let_through(loop, gate);
}

TEST(Gate, WhoAsksBeforeIsToldWhatPostWouldSay) {
  loop::Loop loop = std::move(*loop::Loop::create());
  Gate gate(loop);
  EXPECT_TRUE(gate.has_room(kAlice, 2 * Gate::kBytesOfUserMax)) << "the first passes";
  ASSERT_TRUE(gate.post(kAlice, [] {}, {.bytes = Gate::kBytesOfUserMax}));
  EXPECT_FALSE(gate.has_room(kAlice, 1));
  EXPECT_TRUE(gate.has_room(kAlice, 0));
  EXPECT_TRUE(gate.has_room(kBob, 1));
  fill(gate, kAlice);
  EXPECT_FALSE(gate.has_room(kAlice, 0));
  let_through(loop, gate);
  EXPECT_TRUE(gate.has_room(kAlice, 1));
  gate.close();
  EXPECT_FALSE(gate.has_room(kBob, 0));
}

TEST(Gate, WhoeverPostsFromWithinWaitsForHisTurn) {
  loop::Loop loop = std::move(*loop::Loop::create());
  Gate gate(loop);
  std::string order;
  ASSERT_TRUE(gate.post(kAlice, [&] {
    order += 'a';
    gate.post_always(kAlice, [&] { order += 'A'; });
  }));
  ASSERT_TRUE(gate.post(kBob, [&] { order += 'b'; }));
  let_through(loop, gate);
  EXPECT_EQ(order, "abA");
}

TEST(Gate, MessagesOnTheirWayBackAreOneUsers) {
  loop::Loop loop = std::move(*loop::Loop::create());
  Gate gate(loop);
  const auto bytes = gate.outgoing(kAlice);
  *bytes += 7;
  EXPECT_EQ(*gate.outgoing(kAlice), 7u);
  EXPECT_EQ(*gate.outgoing(kBob), 0u);
}

TEST(Gate, ClosedLetsNobodyIn) {
  loop::Loop loop = std::move(*loop::Loop::create());
  Gate gate(loop);
  gate.close();
  EXPECT_FALSE(gate.post(policy::kHost, [] {}));
  EXPECT_EQ(gate.waiting(), 0u);
  gate.post_always(policy::kHost, [] {});
  EXPECT_EQ(gate.waiting(), 1u);
}

}  // namespace
}  // namespace plimsoll::daemon

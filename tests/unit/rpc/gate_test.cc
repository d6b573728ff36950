#include "rpc/gate.h"

#include <gtest/gtest.h>

namespace plimsoll::rpc {
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

TEST(Gate, ClosedLetsNobodyIn) {
  loop::Loop loop = std::move(*loop::Loop::create());
  Gate gate(loop);
  gate.close();
  EXPECT_FALSE(gate.post(policy::kHost, [] {}));
  EXPECT_EQ(gate.waiting(), 0u);
}

}  // namespace
}  // namespace plimsoll::rpc

#include "daemon/api/output_pace.h"

#include <gtest/gtest.h>

#include <vector>

namespace plimsoll::daemon {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kPaced = 1001;
constexpr Duration kReadCost = 100us;

// Users who are read whenever they may be: how many reads of each there are in 10 s.
std::vector<int> reads_of(std::uint32_t users) {
  OutputPace pace;
  std::vector<Instant> next(users);
  std::vector<int> reads(users);
  for (Instant now{}; now < Instant{} + 10s; now += kReadCost) {
    for (std::uint32_t user = 0; user < users; ++user) {
      if (next[user] > now) continue;
      ++reads[user];
      next[user] = pace.spent(kPaced + user, kReadCost, now);
    }
  }
  return reads;
}

TEST(OutputPace, WhoPrintsWithoutAPauseTakesATenth) {
  const std::vector<int> reads = reads_of(1);
  EXPECT_GT(reads[0] * kReadCost, 1s);
  EXPECT_LT(reads[0] * kReadCost, 1050ms);
}

TEST(OutputPace, AllTogetherTakeAFifthInEqualShares) {
  const std::vector<int> reads = reads_of(8);
  for (const int of_user : reads) {
    EXPECT_GT(of_user * kReadCost, 240ms);
    EXPECT_LT(of_user * kReadCost, 290ms);
  }
}

TEST(OutputPace, WhoPrintsNowAndThenIsReadAtOnce) {
  OutputPace pace;
  for (Instant now{}; now < Instant{} + 10s; now += 2ms) {
    for (std::uint32_t other = 1; other <= 2; ++other) pace.spent(other, 1ms, now);
    EXPECT_EQ(pace.spent(kPaced, kReadCost, now), now);
  }
}

TEST(OutputPace, ManyPipesOfOneUserWaitInTurn) {
  OutputPace pace;
  Instant last{};
  for (int i = 0; i < 1000; ++i) {
    const Instant next = pace.spent(kPaced, kReadCost, Instant{});
    EXPECT_GE(next, last);
    last = next;
  }
  EXPECT_EQ(last, Instant{} + 1000 * kReadCost * OutputPace::kOfUser - OutputPace::kAhead);
}

}  // namespace
}  // namespace plimsoll::daemon

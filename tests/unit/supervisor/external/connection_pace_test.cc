#include "supervisor/external/peer_listener.h"

#include <gtest/gtest.h>

namespace plimsoll::supervisor {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kOneUser = 1001, kOther = 1002;
constexpr Instant kMorning = Instant{} + 1h;

// So many in a row, without a pause.
int taken(ConnectionPace& pace, std::uint32_t uid, int come, Instant now) {
  int count = 0;
  for (int i = 0; i < come; ++i) count += pace.may_come(uid, now) ? 1 : 0;
  return count;
}

TEST(ConnectionPace, WhoComesWithoutAPauseIsTurnedAway) {
  ConnectionPace pace;
  EXPECT_EQ(taken(pace, kOneUser, 10'000, kMorning), static_cast<int>(ConnectionPace::kAtOnce));
  EXPECT_EQ(taken(pace, kOneUser, 10'000, kMorning + 1s),
            static_cast<int>(ConnectionPace::kPerSecond));
}

TEST(ConnectionPace, OneUsersFloodIsHisOwn) {
  ConnectionPace pace;
  (void)taken(pace, kOneUser, 10'000, kMorning);
  EXPECT_TRUE(pace.may_come(kOther, kMorning));
  EXPECT_EQ(taken(pace, 0, 10'000, kMorning), 10'000) << "root is always heard";
}

TEST(ConnectionPace, WhoHasRestedIsForgotten) {
  ConnectionPace pace;
  for (std::uint32_t uid = 1; uid <= 1000; ++uid) (void)pace.may_come(uid, kMorning);
  EXPECT_EQ(pace.known(), 1000u);
  (void)pace.may_come(kOneUser, kMorning + 1h);
  EXPECT_EQ(pace.known(), 1u);
}

}  // namespace
}  // namespace plimsoll::supervisor

#include "daemon/api/user_turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace plimsoll::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<int> all(UserTurns<int>& turns) {
  std::vector<int> order;
  while (const auto next = turns.next()) order.push_back(*next);
  return order;
}

TEST(UserTurns, UsersComeInTurnHoweverManyOneHas) {
  UserTurns<int> turns;
  for (const int connection : {11, 12, 13, 14}) turns.add(1, connection);
  turns.add(2, 21);
  turns.add(3, 31);
  turns.add(2, 22);
  EXPECT_THAT(all(turns), ElementsAre(11, 21, 31, 12, 22, 13, 14));
  EXPECT_TRUE(turns.is_empty());
}

TEST(UserTurns, WhoComesBackStandsBehindHisOwnAndHisUserBehindTheOthers) {
  UserTurns<int> turns;
  turns.add(1, 11);
  turns.add(1, 12);
  turns.add(2, 21);
  EXPECT_EQ(turns.next(), 11);
  turns.add(1, 11);
  EXPECT_THAT(all(turns), ElementsAre(21, 12, 11));
}

TEST(UserTurns, WhoIsGoneHasNoTurn) {
  UserTurns<int> turns;
  turns.add(1, 11);
  turns.add(1, 12);
  turns.add(2, 21);
  turns.remove(1, 11);
  turns.remove(2, 21);
  turns.remove(2, 21);
  turns.remove(3, 31);
  EXPECT_THAT(all(turns), ElementsAre(12));
  EXPECT_THAT(all(turns), IsEmpty());
}

}  // namespace
}  // namespace plimsoll::daemon

#include "supervisor/quota.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::supervisor {
namespace {

constexpr policy::Tenant kAlice{1001}, kBob{1002}, kCarol{1003};

void take(Quota& quota, policy::Tenant user, int count) {
  for (int i = 0; i < count; ++i) {
    ASSERT_TRUE(quota.check(user));
    quota.take(user);
  }
}

TEST(Quota, OneUserHasHisPart) {
  Quota quota("streams", {.of_user = 3, .in_all = 10});
  take(quota, kAlice, 3);
  const auto more = quota.check(kAlice);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, std::errc::not_enough_memory);
  EXPECT_THAT(more.error().what, testing::HasSubstr("found 3 streams of this user and 3 in all"));
  EXPECT_TRUE(quota.check(kBob));
  quota.give_back(kAlice);
  EXPECT_TRUE(quota.check(kAlice));
}

TEST(Quota, TheHostIsHeardWhateverTheOthersHave) {
  Quota quota("streams", {.of_user = 5, .in_all = 10});
  take(quota, kAlice, 5);
  take(quota, kBob, 5);
  EXPECT_FALSE(quota.check(kCarol));
  take(quota, policy::kHost, 10);
  EXPECT_FALSE(quota.check(policy::kHost));
  quota.give_back(kBob);
  EXPECT_TRUE(quota.check(kCarol));
}

}  // namespace
}  // namespace plimsoll::supervisor

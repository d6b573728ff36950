#include "daemon/api/followers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::daemon {
namespace {

TEST(Followers, OneUserHasHisShare) {
  Followers followers;
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < Followers::kOfUserMax; ++i) {
    ASSERT_TRUE(followers.add(WatcherId{++last}, 7));
  }
  const auto more = followers.add(WatcherId{++last}, 7);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, std::errc::not_enough_memory);
  EXPECT_THAT(more.error().what, testing::HasSubstr("found 100 followers of this user"));
  EXPECT_TRUE(followers.add(WatcherId{++last}, 8));
  followers.remove(WatcherId{1});
  followers.remove(WatcherId{1});
  EXPECT_TRUE(followers.add(WatcherId{++last}, 7));
  EXPECT_FALSE(followers.add(WatcherId{++last}, 7));
}

TEST(Followers, AllHaveTheirsButRoot) {
  Followers followers;
  for (std::uint64_t i = 1; i <= Followers::kFollowersMax; ++i) {
    ASSERT_TRUE(followers.add(WatcherId{i}, static_cast<std::uint32_t>(1 + i % 50)));
  }
  constexpr WatcherId kNext{Followers::kFollowersMax + 1};
  EXPECT_FALSE(followers.add(kNext, 99));
  EXPECT_TRUE(followers.add(kNext, 0));
}

}  // namespace
}  // namespace plimsoll::daemon

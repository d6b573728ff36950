#include "policy/governor/room_mark.h"

#include <gtest/gtest.h>

namespace plimsoll::policy {
namespace {

using namespace plimsoll::literals;

TEST(RoomMark, IsPassedWithEachQuarterOfTheRoom) {
  RoomMark mark;
  EXPECT_FALSE(mark.passes(400_MiB));
  EXPECT_FALSE(mark.passes(300_MiB));
  EXPECT_TRUE(mark.passes(299_MiB));
  EXPECT_FALSE(mark.passes(299_MiB));
  EXPECT_FALSE(mark.passes(225_MiB));
  EXPECT_TRUE(mark.passes(224_MiB));
}

// What has ended gives room back, and the next to grow are looked at as the first were.
TEST(RoomMark, RisesWithTheRoom) {
  RoomMark mark;
  EXPECT_FALSE(mark.passes(400_MiB));
  EXPECT_TRUE(mark.passes(100_MiB));
  EXPECT_FALSE(mark.passes(800_MiB));
  EXPECT_FALSE(mark.passes(700_MiB));
  EXPECT_TRUE(mark.passes(599_MiB));
}

TEST(RoomMark, StaysWhereNoRoomIsLeft) {
  RoomMark mark;
  EXPECT_FALSE(mark.passes(4_MiB));
  EXPECT_TRUE(mark.passes(Bytes{}));
  EXPECT_FALSE(mark.passes(Bytes{}));
}

}  // namespace
}  // namespace plimsoll::policy

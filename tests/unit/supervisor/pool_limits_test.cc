#include "supervisor/pool_limits.h"

#include <gtest/gtest.h>

namespace plimsoll::supervisor {
namespace {

using namespace plimsoll::literals;
using cgroup::Version;

TEST(WallFor, OnV2TheThrottleStandsAtTheLineAndTheKillerALittleAbove) {
  const auto limits = wall_for(Version::v2, 32_GiB, 64_GiB);
  EXPECT_EQ(limits.high, 32_GiB);
  EXPECT_EQ(limits.max, 34_GiB);
}

TEST(WallFor, ASmallLineHasRoomForWhatIsChargedInBatches) {
  const auto limits = wall_for(Version::v2, 64_MiB, 24_GiB);
  EXPECT_EQ(limits.max, 128_MiB);
}

TEST(WallFor, OnV1ThereIsNoThrottleAndTheLastResortIsFarAbove) {
  const auto limits = wall_for(Version::v1, 4_GiB, 24_GiB);
  EXPECT_FALSE(limits.high);
  EXPECT_EQ(limits.max, 5_GiB);
  EXPECT_EQ(wall_for(Version::v1, 64_MiB, 24_GiB).max, 320_MiB);
}

TEST(WallFor, HalfOfWhatOthersHaveStaysTheirs) {
  // The line by default: all but an eighth.
  EXPECT_EQ(wall_for(Version::v2, 896_MiB, 1_GiB).max, 960_MiB);
  EXPECT_EQ(wall_for(Version::v1, 896_MiB, 1_GiB).max, 960_MiB);
}

TEST(WallFor, NearTheMachinesOwnEndThereIsNoLimitOfOurs) {
  EXPECT_FALSE(wall_for(Version::v2, 1_GiB, 1_GiB).max);
  EXPECT_FALSE(wall_for(Version::v2, 1000_MiB, 1024_MiB).max);
  EXPECT_EQ(wall_for(Version::v2, 1_GiB, 1_GiB).high, 1_GiB);
}

TEST(WallFor, TheKillerNeverStandsBelowTheThrottle) {
  for (std::uint64_t line = 16; line <= 4096; line += 16) {
    for (std::uint64_t capacity = line; capacity <= 4096; capacity += 64) {
      const auto limits = wall_for(Version::v2, Bytes{line << 20}, Bytes{capacity << 20});
      if (limits.max) {
        EXPECT_GE(*limits.max, *limits.high + 16_MiB);
      }
    }
  }
}

}  // namespace
}  // namespace plimsoll::supervisor

#include "policy/governor/sample_interval.h"

#include <gtest/gtest.h>

namespace plimsoll::policy {
namespace {

using namespace std::chrono_literals;
using namespace plimsoll::literals;

constexpr Instant kStart{1000s};

TEST(SampleInterval, DoublesWhileMemoryIsCalm) {
  SampleInterval gap;
  EXPECT_EQ(gap.after(100_MiB, kStart), SampleInterval::kMin);
  EXPECT_EQ(gap.after(100_MiB, kStart + 100ms), 200ms);
  EXPECT_EQ(gap.after(100_MiB, kStart + 300ms), 400ms);
  EXPECT_EQ(gap.after(100_MiB, kStart + 700ms), 800ms);
  EXPECT_EQ(gap.after(100_MiB, kStart + 1500ms), SampleInterval::kMax);
  EXPECT_FALSE(gap.is_moving());
}

TEST(SampleInterval, IsShortWhileMemoryMoves) {
  SampleInterval gap;
  gap.after(100_MiB, kStart);
  gap.after(100_MiB, kStart + 100ms);
  EXPECT_EQ(gap.after(103_MiB, kStart + 300ms), SampleInterval::kMin);
  EXPECT_TRUE(gap.is_moving());
}

// Alarms make looks before their time; slow growth is growth all the same.
TEST(SampleInterval, LooksBeforeTheirTimeDoNotHideGrowth) {
  SampleInterval gap;
  gap.after(100_MiB, kStart);
  Bytes used = 100_MiB;
  Duration last = SampleInterval::kMin;
  for (int look = 1; look <= 40; ++look) {
    used += Bytes{300 << 10};  // 30 MB/s
    last = gap.after(used, kStart + look * 10ms);
  }
  EXPECT_EQ(last, SampleInterval::kMin);
  EXPECT_TRUE(gap.is_moving());
}

TEST(SampleInterval, LooksBeforeTheirTimeDoNotMakeItCalmer) {
  SampleInterval gap;
  gap.after(100_MiB, kStart);
  for (int look = 1; look < 10; ++look) {
    EXPECT_EQ(gap.after(100_MiB, kStart + look * 10ms), SampleInterval::kMin);
  }
  EXPECT_EQ(gap.after(100_MiB, kStart + 100ms), 200ms);
}

}  // namespace
}  // namespace plimsoll::policy

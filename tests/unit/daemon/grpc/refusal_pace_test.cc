#include "daemon/grpc/call_pace.h"

#include <gtest/gtest.h>

namespace plimsoll::daemon {
namespace {

using namespace std::chrono_literals;

constexpr policy::Tenant kRefused{1000}, kAnother{1001};
constexpr Instant kBegin{8h};

TEST(RefusalPace, EachWaitsTwiceAsLongAsTheLast) {
  RefusalPace pace;
  for (const Duration wait : {10ms, 20ms, 40ms, 80ms, 160ms, 320ms, 640ms, 1000ms, 1000ms}) {
    EXPECT_EQ(pace.refused(kRefused, kBegin), wait);
  }
  EXPECT_EQ(pace.refused(kAnother, kBegin), 10ms) << "who is another";
  EXPECT_EQ(pace.refused(policy::kHost, kBegin), 0ms);
  EXPECT_EQ(pace.refused(kRefused, kBegin + 2s), 1s) << "as long as he goes on";
}

TEST(RefusalPace, WhoWasNotRefusedForAWhileBeginsAnew) {
  RefusalPace pace;
  for (int i = 0; i < 9; ++i) (void)pace.refused(kRefused, kBegin);
  EXPECT_EQ(pace.refused(kAnother, kBegin + 4s), 10ms);
  EXPECT_EQ(pace.known(), 1u);
  EXPECT_EQ(pace.refused(kRefused, kBegin + 4s), 10ms);
}

}  // namespace
}  // namespace plimsoll::daemon

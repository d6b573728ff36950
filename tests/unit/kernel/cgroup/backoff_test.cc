#include "kernel/cgroup/backoff.h"

#include <gtest/gtest.h>

namespace plimsoll::cgroup {
namespace {

TEST(Backoff, DoublesFromAMillisecondAndEndsAtOneSecond) {
  Backoff backoff;
  for (const int ms : {1, 2, 4, 8, 16, 32, 64, 128, 250, 1000, 1000, 1000}) {
    EXPECT_EQ(backoff.next(), std::chrono::milliseconds(ms));
  }
}

}  // namespace
}  // namespace plimsoll::cgroup

#include "guardian/protection.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <thread>

namespace plimsoll::guardian {
namespace {

int own_nice() { return ::getpriority(PRIO_PROCESS, 0); }

// Threads that serve clients come from the one that goes before others, and must not.
TEST(Protection, OnlyTheThreadThatAsksGoesBeforeOthers) {
  const int usual = own_nice();
  int asked = usual, child = usual;
  std::thread([&] {
    go_before_others();
    asked = own_nice();
    std::thread([&] { child = own_nice(); }).join();
  }).join();
  if (asked == usual) GTEST_SKIP() << "no CAP_SYS_NICE";
  EXPECT_EQ(asked, kSupervisorNice);
  EXPECT_EQ(child, 0);
}

}  // namespace
}  // namespace plimsoll::guardian

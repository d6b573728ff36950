#include "kernel/procfs/table.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace plimsoll::procfs {
namespace {

TEST(FamilyOf, BeginsWithTheProcess) {
  EXPECT_EQ(family_of(::getpid()), std::vector<int>({::getpid()}));
}

// The kernel lists it with the thread that has forked.
TEST(FamilyOf, HasTheChildOfAnotherThread) {
  int child = -1;
  std::vector<int> family;
  std::thread([&] {
    child = ::fork();
    while (child == 0) ::pause();
    family = family_of(::getpid());
  }).join();
  ASSERT_GT(child, 0);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(family, std::vector<int>({::getpid(), child}));
}

}  // namespace
}  // namespace plimsoll::procfs

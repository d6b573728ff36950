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

TEST(FamilyOf, LacksWhoIsApart) {
  const pid_t child = ::fork();
  while (child == 0) ::pause();
  const Id id = stat_of(child)->id;
  EXPECT_EQ(family_of(::getpid(), {id}), std::vector<int>({::getpid()}));
  const Id earlier{.pid = id.pid, .start = id.start - 1};  // who had the number before
  EXPECT_EQ(family_of(::getpid(), {earlier}), std::vector<int>({::getpid(), child}));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace plimsoll::procfs

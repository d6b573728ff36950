#include "guardian/other_children.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <unordered_map>
#include <utility>
#include <vector>

#include "guardian/child_list.h"

namespace plimsoll::guardian {
namespace {

struct OtherChildrenHost : ::testing::Test {
  void SetUp() override {
    ::signal(SIGCHLD, SIG_DFL);
    if (!children_if_few()) GTEST_SKIP() << "the kernel does not list children";
    if (!children().empty()) GTEST_SKIP() << "has children already";
  }
  void TearDown() override {
    for (const pid_t pid : std::exchange(living, {})) end(pid);
  }
  pid_t begin() {
    const pid_t pid = ::fork();
    while (pid == 0) ::pause();
    return living.emplace_back(pid);
  }
  void end(pid_t pid) {
    ::kill(pid, SIGKILL);
    EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
    std::erase(living, pid);
  }

  std::vector<pid_t> living;
};

TEST_F(OtherChildrenHost, AreNeitherTheSupervisorNorWhoWasStarted) {
  OtherChildren others(begin());
  const std::unordered_map<pid_t, ChildId> started = {{begin(), ChildId{1}}};
  EXPECT_FALSE(others.may_live(started));
  begin();
  EXPECT_TRUE(others.may_live(started));
}

TEST_F(OtherChildrenHost, AreFoundAgainWhenTheOneThatWasFoundHasEnded) {
  OtherChildren others(begin());
  const pid_t one = begin();
  ASSERT_TRUE(others.may_live({}));
  const pid_t other = begin();
  end(one);
  others.ended(one);
  EXPECT_TRUE(others.may_live({}));
  end(other);
  others.ended(other);
  EXPECT_FALSE(others.may_live({}));
}

// A number may be given to one that is started.
TEST_F(OtherChildrenHost, MayStillLiveUntilTheOneThatWasFoundIsWaitedFor) {
  OtherChildren others(begin());
  const pid_t one = begin();
  ASSERT_TRUE(others.may_live({}));
  EXPECT_TRUE(others.may_live({{one, ChildId{1}}}));
}

}  // namespace
}  // namespace plimsoll::guardian

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
    if (!first_children()) GTEST_SKIP() << "the kernel does not list children";
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
  others.began(ChildId{2});
  EXPECT_EQ(others.main_ended(ChildId{2}, started), false);
  others.began(ChildId{3});
  begin();
  others.ended(1);
  EXPECT_EQ(others.main_ended(ChildId{3}, started), true);
}

TEST_F(OtherChildrenHost, OfOthersJobsNothingIsSaid) {
  OtherChildren others(begin());
  begin();
  EXPECT_EQ(others.main_ended(ChildId{1}, {}), std::nullopt);
  others.began(ChildId{1});
  others.never_began(ChildId{1});
  EXPECT_EQ(others.main_ended(ChildId{1}, {}), std::nullopt);
  others.began(ChildId{1});
  EXPECT_EQ(others.main_ended(ChildId{1}, {}), true);
  EXPECT_EQ(others.main_ended(ChildId{1}, {}), std::nullopt) << "it is over";
}

TEST_F(OtherChildrenHost, AreFoundAgainWhenTheOneThatWasFoundHasEnded) {
  OtherChildren others(begin());
  for (const std::uint64_t job : {1u, 2u, 3u}) others.began(ChildId{job});
  const pid_t one = begin();
  ASSERT_EQ(others.main_ended(ChildId{1}, {}), true);
  const pid_t other = begin();
  end(one);
  others.ended(one);
  EXPECT_EQ(others.main_ended(ChildId{2}, {}), true);
  end(other);
  others.ended(other);
  EXPECT_EQ(others.main_ended(ChildId{3}, {}), false);
}

TEST_F(OtherChildrenHost, OneLookServesAllThatHaveEndedTogether) {
  OtherChildren others(begin());
  others.began(ChildId{1});
  others.began(ChildId{2});
  EXPECT_EQ(others.main_ended(ChildId{1}, {}), false);
  begin();  // after both had been waited for
  EXPECT_EQ(others.main_ended(ChildId{2}, {}), false);
}

}  // namespace
}  // namespace plimsoll::guardian

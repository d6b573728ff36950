#include "guardian/child_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace plimsoll::guardian {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

pid_t sleeper() {
  const pid_t pid = ::fork();
  while (pid == 0) ::pause();
  return pid;
}

// What this process has read from files so far.
std::size_t bytes_read() {
  std::ifstream file("/proc/self/io");
  std::string word;
  std::size_t count = 0;
  file >> word >> count;
  return count;
}

struct ChildListHost : ::testing::Test {
  void SetUp() override {
    ::signal(SIGCHLD, SIG_DFL);
    if (::access("/proc/self/task", X_OK) != 0 || children() != std::vector<pid_t>{}) {
      GTEST_SKIP() << "has children already";
    }
  }
  void TearDown() override {
    for (const pid_t pid : std::exchange(living, {})) end(pid);
  }
  pid_t begin() { return living.emplace_back(sleeper()); }
  void end(pid_t pid) {
    ::kill(pid, SIGKILL);
    EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
    std::erase(living, pid);
  }

  ChildList list;
  std::vector<pid_t> living;
};

TEST_F(ChildListHost, TellsThoseThatHaveCome) {
  EXPECT_THAT(list.take_new(), IsEmpty());
  const pid_t first = begin(), second = begin();
  EXPECT_THAT(list.take_new(), ElementsAre(first, second));
  EXPECT_THAT(list.take_new(), IsEmpty());
  const pid_t third = begin();
  end(first);
  list.ended(first);
  EXPECT_THAT(list.take_new(), ElementsAre(third));
  for (const pid_t pid : {third, second}) {
    end(pid);
    list.ended(pid);
  }
  const pid_t fourth = begin();
  EXPECT_THAT(list.take_new(), ElementsAre(fourth));
  EXPECT_THAT(list.take_new(), IsEmpty());
}

TEST_F(ChildListHost, ThousandsThatAreKnownAreNotReadAgain) {
  constexpr std::size_t kMany = 1000;
  std::generate_n(std::back_inserter(living), kMany, sleeper);
  const auto all = living;
  EXPECT_THAT(list.take_new(), ElementsAreArray(all));
  for (std::size_t i = 0; i < kMany; i += 100) {
    end(all[i]);
    list.ended(all[i]);
  }
  const pid_t one = begin();
  const std::size_t before = bytes_read();
  const auto found = list.take_new();
  EXPECT_LT(bytes_read() - before, 1000u) << "with what a look at this costs";
  EXPECT_THAT(found, ElementsAre(one));
}

// As if somebody else had waited for it.
TEST_F(ChildListHost, WhereTheKnownOnesAreNotInTheirPlaceAllAreRead) {
  const pid_t first = begin(), second = begin();
  EXPECT_THAT(list.take_new(), ElementsAre(first, second));
  end(first);
  const pid_t third = begin();
  EXPECT_THAT(list.take_new(), ElementsAre(third));
  EXPECT_THAT(list.take_new(), IsEmpty());
}

}  // namespace
}  // namespace plimsoll::guardian

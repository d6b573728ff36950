#include "guardian/standstill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "support/host_test.h"

namespace plimsoll::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct StandstillHost : ::testing::Test {
  void SetUp() override {
    ::signal(SIGCHLD, SIG_DFL);
    child = ::fork();
    while (child == 0) ::pause();
    // The kernel stops nobody for a terminal whose process group has no parent outside in its
    // session, as that of the test itself may be.
    ASSERT_EQ(::setpgid(child, child), 0);
  }
  void TearDown() override {
    ::kill(child, SIGKILL);
    EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  }
  void look(guardian::Standstill& standstill, Instant when) {
    if (const auto text = standstill.look(when)) told.push_back(*text);
  }

  pid_t child = 0;
  std::vector<std::string> told;
  Instant now{};
};

TEST_F(StandstillHost, IsToldAtOnceAndEndedAfterAWhile) {
  guardian::Standstill seen(child, 10s);
  look(seen, now);
  EXPECT_FALSE(seen.next_look(now));
  ASSERT_EQ(::kill(child, SIGSTOP), 0);
  ASSERT_TRUE(eventually([&] {
    look(seen, now);
    return seen.next_look(now).has_value();
  }));
  EXPECT_THAT(told, ElementsAre(HasSubstr("was stopped by a signal that somebody sent")));
  EXPECT_EQ(seen.next_look(now + 4s), 6s);
  look(seen, now + 9s);
  EXPECT_EQ(::waitpid(child, nullptr, WNOHANG | WCONTINUED), 0) << "continued too soon";
  look(seen, now + 10s);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WCONTINUED), child);
  EXPECT_TRUE(WIFCONTINUED(status));
  EXPECT_FALSE(seen.next_look(now + 10s));
  EXPECT_EQ(told.size(), 1U);
}

TEST_F(StandstillHost, WhoIsContinuedBeforeIsLeftAlone) {
  guardian::Standstill seen(child, 10s);
  ASSERT_EQ(::kill(child, SIGSTOP), 0);
  ASSERT_TRUE(eventually([&] {
    look(seen, now);
    return seen.next_look(now).has_value();
  }));
  ASSERT_EQ(::kill(child, SIGCONT), 0);
  EXPECT_TRUE(eventually([&] {
    look(seen, now);
    return !seen.next_look(now);
  }));
}

TEST_F(StandstillHost, OfTheTerminalIsTheTerminalsAffair) {
  guardian::Standstill seen(child, 0s);
  ASSERT_EQ(::kill(child, SIGTTIN), 0);
  ASSERT_TRUE(eventually([&] {
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED | WNOHANG | WNOWAIT);
    return info.si_pid == child;
  }));
  look(seen, now);
  EXPECT_FALSE(seen.next_look(now));
  EXPECT_THAT(told, IsEmpty());
}

}  // namespace
}  // namespace plimsoll::testing

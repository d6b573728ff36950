#include "guardian/standby.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

// In processes of their own, as a thread that stands by never comes back.
namespace plimsoll::guardian {
namespace {

using namespace std::chrono_literals;

constexpr int kAsExpected = 3;
constexpr auto kPatience = 20ms;

// The exit status of a process that does this.
int status_of(const std::function<void()>& work) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(60);  // as long as anything may take on a loaded machine
    work();
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void wait_until_ready(Standby& standby) {
  while (!standby.is_ready()) std::this_thread::sleep_for(1ms);
}

TEST(Standby, WhoComesBackSoonStillLeads) {
  std::atomic<int> changes = 0;
  {
    const auto standby = Standby::start([&] { ++changes; }, 1h);
    ASSERT_NE(standby, nullptr);
    wait_until_ready(*standby);
    for (int i = 0; i < 1000; ++i) EXPECT_TRUE(standby->regain(standby->lend()));
    std::this_thread::sleep_for(20ms);
    EXPECT_TRUE(standby->regain(standby->lend()));
  }
  EXPECT_EQ(changes, 0);
}

TEST(Standby, WhoIsHeldUpIsReplacedAndStandsByForTheOther) {
  const int status = status_of([] {
    std::atomic<int> changes = 0;
    std::unique_ptr<Standby> standby;
    const auto hang = [&] {
      wait_until_ready(*standby);
      const std::uint64_t lent = standby->lend();
      while (standby->is_ready()) std::this_thread::sleep_for(1ms);  // until it is taken
      if (standby->regain(lent)) ::_exit(1);
      standby->stand_by();
    };
    standby = Standby::start(
        [&] {
          if (++changes == 4) ::_exit(kAsExpected);
          hang();
        },
        kPatience);
    hang();
  });
  EXPECT_EQ(status, kAsExpected);
}

TEST(Standby, ALeadThatWasLostIsNotRegainedWhileTheOtherHasLentIt) {
  const int status = status_of([] {
    std::unique_ptr<Standby> standby;
    std::atomic<bool> is_lent = false;
    standby = Standby::start(
        [&] {
          [[maybe_unused]] const std::uint64_t lent = standby->lend();
          is_lent = true;
          for (;;) ::pause();
        },
        kPatience);
    wait_until_ready(*standby);
    const std::uint64_t lent = standby->lend();
    while (!is_lent) std::this_thread::sleep_for(1ms);
    ::_exit(standby->regain(lent) ? 1 : kAsExpected);
  });
  EXPECT_EQ(status, kAsExpected);
}

TEST(Standby, TheLeadDoesNotChangeWithoutEnd) {
  const int status = status_of([] {
    std::atomic<unsigned> changes = 0;
    std::unique_ptr<Standby> standby;
    const auto hang = [&] {
      if (changes == Standby::kChangesMax) ::_exit(standby->is_ready() ? 1 : kAsExpected);
      wait_until_ready(*standby);
      const std::uint64_t lent = standby->lend();
      while (standby->is_ready()) std::this_thread::sleep_for(1ms);  // until it is taken
      if (standby->regain(lent)) ::_exit(1);
      standby->stand_by();
    };
    standby = Standby::start(
        [&] {
          ++changes;
          hang();
        },
        kPatience);
    hang();
  });
  EXPECT_EQ(status, kAsExpected);
}

}  // namespace
}  // namespace plimsoll::guardian

// Programs that are found by looks at /proc: this process is the guardian.
#include "govern/exec_watcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "support/ground.h"

namespace plimsoll::govern {
namespace {

using namespace std::chrono_literals;
using plimsoll::testing::eventually;
using ::testing::Contains;
using ::testing::Key;
using ::testing::Not;

enum class Mode : std::uint8_t { cgroups, process_mode };

class ExecWatcherTest : public ::testing::TestWithParam<Mode>, private ExecObserver {
 protected:
  ~ExecWatcherTest() override {
    for (const pid_t pid : started_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  }
  void watch() {
    if (GetParam() == Mode::process_mode) {
      const auto proc = procfs::ProcDir::open();
      const procfs::Id self = *procfs::id_of(*proc, ::getpid());
      families_.emplace(
          std::move(*procfs::ProcessScanner::open(
              {.guardian = self, .supervisor = self, .run = "20260101-000000-test", .space = 0})),
          loop_);
    }
    ExecObserver& told = *this;
    watcher_ = std::move(*ExecWatcher::create(
        {.loop = loop_, .guardian = ::getpid(), .families = families_ ? &*families_ : nullptr},
        told));
    watcher_->begin();
  }
  pid_t start() {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::execl("/bin/sleep", "sleep", "1000", nullptr);
      ::_exit(127);
    }
    started_.push_back(pid);
    return pid;
  }
  pid_t fork_only() {
    const pid_t pid = ::fork();
    while (pid == 0) ::pause();
    started_.push_back(pid);
    return pid;
  }
  bool is_told(pid_t pid) {
    return eventually([&] {
      EXPECT_TRUE(loop_.run_once(1ms));
      return told_.contains(pid);
    });
  }
  void on_exec(std::optional<PendingExec> pending, const Exec& exec) override {
    EXPECT_FALSE(pending);
    EXPECT_TRUE(told_.emplace(exec.process.pid, exec).second) << "told twice";
  }
  void on_blind(const Error& why) override { ADD_FAILURE() << why.message(); }

  loop::Loop loop_ = std::move(*loop::Loop::create());
  std::optional<supervisor::Families> families_;
  std::unique_ptr<ExecWatcher> watcher_;
  std::map<pid_t, Exec> told_;
  std::vector<pid_t> started_;
};

INSTANTIATE_TEST_SUITE_P(Modes, ExecWatcherTest,
                         ::testing::Values(Mode::cgroups, Mode::process_mode),
                         [](const auto& mode) {
                           return mode.param == Mode::cgroups ? "Cgroups" : "ProcessMode";
                         });

TEST_P(ExecWatcherTest, WhatIsExecutedIsTold) {
  watch();
  const pid_t pid = start();
  ASSERT_TRUE(is_told(pid));
  const Exec& exec = told_.at(pid);
  EXPECT_EQ(exec.parent, ::getpid());
  EXPECT_THAT(exec.argv, ::testing::ElementsAre("sleep", "1000"));
  EXPECT_TRUE(exec.is_done);
}

TEST_P(ExecWatcherTest, WhoWasThereBeforeIsNot) {
  const pid_t before = start();
  watch();
  ASSERT_TRUE(is_told(start()));
  EXPECT_THAT(told_, Not(Contains(Key(before))));
}

TEST_P(ExecWatcherTest, WhoHasExecutedNothingIsNot) {
  watch();
  const pid_t copy = fork_only();
  ASSERT_TRUE(is_told(start()));
  EXPECT_THAT(told_, Not(Contains(Key(copy))));
}

TEST_P(ExecWatcherTest, AfterTheEndNobodyIsUntilItBeginsAnew) {
  watch();
  const pid_t first = start();
  ASSERT_TRUE(is_told(first));
  watcher_->end();
  const pid_t meanwhile = start();
  EXPECT_TRUE(loop_.run_once(2 * supervisor::Families::kGapMin));
  EXPECT_THAT(told_, Not(Contains(Key(meanwhile))));
  watcher_->begin();
  EXPECT_TRUE(is_told(meanwhile));
}

TEST_P(ExecWatcherTest, WhatIsToBeToldAgainIs) {
  watch();
  const pid_t pid = start();
  ASSERT_TRUE(is_told(pid));
  told_.clear();
  watcher_->tell_again({procfs::stat_of(pid)->id});
  EXPECT_TRUE(is_told(pid));
}

// It is being read when the looks end.
TEST_P(ExecWatcherTest, WhatWasNotToldBeforeTheEndIsToldLater) {
  watch();
  const pid_t pid = start();
  ASSERT_TRUE(eventually([pid] { return !procfs::stat_of(pid)->is_copy; }));
  EXPECT_TRUE(loop_.run_once(1ms));
  watcher_->end();
  if (told_.contains(pid)) GTEST_SKIP() << "it was read at once";
  for (int turn = 0; turn < 20; ++turn) EXPECT_TRUE(loop_.run_once(5ms));
  ASSERT_THAT(told_, Not(Contains(Key(pid))));
  watcher_->begin();
  EXPECT_TRUE(is_told(pid));
}

}  // namespace
}  // namespace plimsoll::govern

#include "supervisor/processes/procfs_process_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>

#include "host/supervisor/places.h"
#include "support/ground.h"
#include "unit/supervisor/model_guardian.h"

// Real processes without groups. This process is their guardian and waits for them; what is told of
// them is told when the test says so.
namespace plimsoll::supervisor {
namespace {

using namespace std::chrono_literals;
using plimsoll::testing::eventually;
using plimsoll::testing::state_of;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::SizeIs;

procfs::Membership::Config config() {
  const auto proc = procfs::ProcDir::open();
  const procfs::Id self = *procfs::id_of(*proc, ::getpid());
  return {.guardian = self, .supervisor = self, .run = "20260101-000000-test", .space = 0};
}

class ProcfsProcessSetTest : public ::testing::Test {
 protected:
  ProcfsProcessSetTest() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    set_.emplace(guardian_, loop_, listener_, families_, "job-1");
  }
  ~ProcfsProcessSetTest() override {
    set_.reset();
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    EXPECT_TRUE(eventually([] { return ::waitpid(-1, nullptr, WNOHANG) < 0; }));
  }

  // A child of this process that does nothing, and if asked has a child of its own that does
  // nothing.
  void fork_main(bool with_child = false) {
    pid_ = ::fork();
    if (pid_ != 0) return;
    if (with_child) ::fork();
    for (;;) ::pause();
  }
  void run(bool with_child = false) {
    ASSERT_TRUE(set_->spawn({}));
    fork_main(with_child);
    guardian_.born(pid_);
    listener_.take();
  }
  // The child is found by a look.
  void run_with_a_child() {
    run(true);
    ASSERT_TRUE(eventually([this] {
      families_.count();
      return families_.process_scanner().membership().members(procfs::FamilyId{1}).size() == 2;
    }));
  }
  void end_main() {
    ::kill(pid_, SIGKILL);
    ASSERT_TRUE(eventually([this] { return state_of(pid_) == 'Z'; }));
  }
  // The main process is waited for, and its owner told.
  void wait_for_main() {
    ASSERT_EQ(::waitpid(std::exchange(pid_, 0), nullptr, 0) > 0, true);
    guardian_.exited_beside_others(9);
  }
  bool is_in_state(char state) const {
    return eventually([this, state] { return state_of(pid_) == state; });
  }

  void await(const std::string& what) {
    ASSERT_TRUE(eventually([&] {
      EXPECT_TRUE(loop_.run_once(1ms));
      return ::testing::Value(listener_.told, Contains(what));
    })) << "not told: "
        << what;
  }

  loop::Loop loop_ = std::move(*loop::Loop::create());
  Families families_{std::move(*procfs::ProcessScanner::open(config())), loop_};
  model::Guardian guardian_;
  model::Listener listener_;
  std::optional<ProcfsProcessSet> set_;
  int pid_ = 0;
};

TEST_F(ProcfsProcessSetTest, ItsMainProcessBearsTheMarkAndDiesWithTheGuardian) {
  guardian::SpawnRequest request;
  request.env = {"PATH=/bin"};
  ASSERT_TRUE(set_->spawn(std::move(request)));
  const guardian::SpawnRequest& asked = guardian_.asked.front();
  EXPECT_THAT(asked.env, ElementsAre("PATH=/bin", std::string(procfs::kTagVariable) + "=" +
                                                      families_.mark_of("job-1")));
  EXPECT_EQ(asked.guardian_death, guardian::GuardianDeath::end);
}

TEST_F(ProcfsProcessSetTest, AFreezeBeforeTheBirthStopsWhoIsBorn) {
  ASSERT_TRUE(set_->spawn({}));
  set_->freeze();
  fork_main();
  guardian_.born(pid_);
  EXPECT_TRUE(is_in_state('T'));
  set_->thaw();
  EXPECT_TRUE(is_in_state('S'));
}

TEST_F(ProcfsProcessSetTest, WhoIsContinuedBySomebodyElseIsStoppedAgain) {
  run();
  set_->freeze();
  ASSERT_TRUE(is_in_state('T'));
  ::kill(pid_, SIGCONT);
  ASSERT_TRUE(is_in_state('S'));
  families_.measure(loop::now());
  EXPECT_TRUE(is_in_state('T'));
}

TEST_F(ProcfsProcessSetTest, WhoDestroysItLeavesNobodyStopped) {
  run();
  set_->freeze();
  ASSERT_TRUE(is_in_state('T'));
  set_.reset();
  EXPECT_TRUE(is_in_state('S'));
}

TEST_F(ProcfsProcessSetTest, WhoWasNeverBornIsGone) {
  ASSERT_TRUE(set_->spawn({}));
  guardian_.not_born();
  set_->reap(reap::LeftBehind::list);
  await("gone");
  EXPECT_THAT(listener_.take(), ElementsAre("not started", "empty", "gone"));
  EXPECT_FALSE(listener_.end->killed);
}

TEST_F(ProcfsProcessSetTest, ThoseThatVanishAreGoneWithoutAKill) {
  run();
  end_main();
  wait_for_main();
  set_->reap(reap::LeftBehind::list);
  await("gone");
  EXPECT_THAT(listener_.take(), ElementsAre("exited 9", "empty", "gone"));
  EXPECT_FALSE(listener_.end->killed);
}

TEST_F(ProcfsProcessSetTest, ThoseThatEndTogetherAreLookedForOnce) {
  struct Job {
    model::Guardian guardian;
    model::Listener listener;
    std::optional<ProcfsProcessSet> set;
    int pid = 0;
  };
  std::array<Job, 8> jobs;
  for (Job& job : jobs) {
    job.set.emplace(job.guardian, loop_, job.listener, families_, "job-x");
    ASSERT_TRUE(job.set->spawn({}));
    fork_main();
    job.pid = std::exchange(pid_, 0);
    job.guardian.born(job.pid);
  }
  const std::uint64_t before = families_.counts();
  for (Job& job : jobs) {
    ::kill(job.pid, SIGKILL);
    ASSERT_EQ(::waitpid(job.pid, nullptr, 0), job.pid);
    job.guardian.exited_beside_others(9);
    job.set->reap(reap::LeftBehind::list);
  }
  for (Job& job : jobs) {
    EXPECT_TRUE(eventually([&] {
      EXPECT_TRUE(loop_.run_once(1ms));
      return ::testing::Value(job.listener.told, Contains("gone"));
    }));
    EXPECT_FALSE(job.listener.end->killed);
  }
  EXPECT_EQ(families_.counts(), before + 1);
}

TEST_F(ProcfsProcessSetTest, WhereTheGuardianHasNobodyElseNobodyIsLookedFor) {
  run_with_a_child();
  families_.process_scanner().signal_all(procfs::FamilyId{1}, SIGKILL);
  pid_ = 0;
  ASSERT_TRUE(eventually([] { return ::waitpid(-1, nullptr, WNOHANG) < 0; })) << "both are dead";
  const std::uint64_t before = families_.counts();
  guardian_.exited(9);
  set_->reap(reap::LeftBehind::list);
  await("gone");
  EXPECT_THAT(listener_.take(), ElementsAre("exited 9", "empty", "gone"));
  EXPECT_FALSE(listener_.end->killed);
  EXPECT_EQ(families_.counts(), before);
}

// As somebody who has come below the first process of another pid namespace.
TEST_F(ProcfsProcessSetTest, WhoWasSeenAndLivesIsLookedForAllTheSame) {
  run_with_a_child();
  end_main();
  ASSERT_GT(::waitpid(std::exchange(pid_, 0), nullptr, 0), 0);
  guardian_.exited(9);
  set_->reap(reap::LeftBehind::list);
  ASSERT_TRUE(eventually([this] {
    EXPECT_TRUE(loop_.run_once(1ms));
    return ::waitpid(-1, nullptr, WNOHANG) > 0;
  })) << "nobody was killed";
  await("gone");
  EXPECT_TRUE(listener_.end->killed);
}

// As when a step of a build is given to the place of another.
TEST_F(ProcfsProcessSetTest, WhoeverWasAdoptedIsLookedForAllTheSame) {
  run();
  const int main = std::exchange(pid_, 0);
  fork_main();
  families_.adopt(procfs::FamilyId{1}, {*procfs::stat_of(pid_)});
  ::kill(main, SIGKILL);
  ASSERT_EQ(::waitpid(main, nullptr, 0), main);
  guardian_.exited(9);
  set_->reap(reap::LeftBehind::list);
  ASSERT_TRUE(eventually([this] {
    EXPECT_TRUE(loop_.run_once(1ms));
    return state_of(pid_) == 'Z';
  }));
  ASSERT_GT(::waitpid(std::exchange(pid_, 0), nullptr, 0), 0);
  await("gone");
  EXPECT_TRUE(listener_.end->killed);
}

TEST_F(ProcfsProcessSetTest, WhereNobodyIsLeftItIsNotLookedAgain) {
  fork_main();
  const UniqueFd main(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0U)));
  auto family = std::make_shared<Family>(families_, "step-1");
  families_.adopt(family->id(), {*procfs::stat_of(pid_)});
  ProcfsProcessSet step(guardian_, loop_, listener_, std::move(family));
  step.adopt(main.get());
  end_main();
  ASSERT_GT(::waitpid(std::exchange(pid_, 0), nullptr, 0), 0);
  await("vacated");
  const std::uint64_t before = families_.counts();
  step.reap(reap::LeftBehind::skip);
  await("gone");
  EXPECT_EQ(families_.counts(), before);
}

TEST_F(ProcfsProcessSetTest, WhoIsLeftIsNamedAndKilled) {
  run_with_a_child();
  set_->reap(reap::LeftBehind::list);
  ASSERT_TRUE(eventually([this] { return state_of(pid_) == 'Z'; }));
  wait_for_main();
  await("gone");
  EXPECT_THAT(listener_.told, Contains("empty"));
  EXPECT_TRUE(listener_.end->killed);
  EXPECT_THAT(listener_.end->left_behind, SizeIs(2));
}

// A number is not free before it is waited for: until then the set is not empty.
TEST_F(ProcfsProcessSetTest, ALateStatusIsWaitedFor) {
  run();
  end_main();
  set_->reap(reap::LeftBehind::skip);
  await("stuck 0");
  EXPECT_THAT(listener_.take(), Not(Contains("empty")));
  wait_for_main();
  await("gone");
  EXPECT_THAT(listener_.take(), ElementsAre("exited 9", "empty", "gone"));
}

TEST_F(ProcfsProcessSetTest, AKillThatDoesNotTakeEndsWhenItIsGivenUp) {
  run();
  end_main();               // and is never waited for
  set_->give_up_removal();  // nothing is being removed yet
  set_->reap(reap::LeftBehind::skip);
  await("stuck 0");
  set_->give_up_removal();
  await("gone");
  EXPECT_THAT(listener_.told, Not(Contains("empty")));
  EXPECT_GE(listener_.end->until_gone, 1s);
}

}  // namespace
}  // namespace plimsoll::supervisor

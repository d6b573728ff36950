#include "supervisor/processes/family_place.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <vector>

#include "host/supervisor/places.h"
#include "support/ground.h"
#include "unit/supervisor/model_guardian.h"

// Processes that somebody else waits for, without groups: this process is guardian and driver.
namespace plimsoll::supervisor {
namespace {

using namespace std::chrono_literals;
using plimsoll::testing::eventually;
using plimsoll::testing::state_of;
using ::testing::Contains;

procfs::Membership::Config config() {
  const auto proc = procfs::ProcDir::open();
  const procfs::Id self = *procfs::id_of(*proc, ::getpid());
  return {.guardian = self, .supervisor = self, .run = "20260101-000000-test", .space = 0};
}

UniqueFd pidfd_of(int pid) {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
}

// A process with a child, both of which sleep.
struct Parent {
  Parent() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const UniqueFd out(ends[0]), in(ends[1]);
    pid = ::fork();
    if (pid == 0) {
      const pid_t born = ::fork();
      while (born == 0) ::pause();
      if (::write(in.get(), &born, sizeof born) != sizeof born) ::_exit(1);
      for (;;) ::pause();
    }
    EXPECT_EQ(::read(out.get(), &child, sizeof child), sizeof child);
  }
  Parent(const Parent&) = delete;
  Parent& operator=(const Parent&) = delete;
  ~Parent() {
    ::kill(child, SIGKILL);
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }

  pid_t pid = -1, child = -1;
};

// A process that has executed nothing, and grows when it is told to.
struct Copy {
  Copy() {
    std::array<int, 2> orders{}, answers{};
    EXPECT_EQ(::pipe2(orders.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(answers.data(), O_CLOEXEC), 0);
    pid = ::fork();
    if (pid == 0) obey(orders[0], answers[1]);
    order = UniqueFd(orders[1]);
    answer = UniqueFd(answers[0]);
    ::close(orders[0]);
    ::close(answers[1]);
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  ~Copy() {
    if (pid > 0) ::kill(pid, SIGKILL);
  }
  [[noreturn]] static void obey(int from, int to) {
    std::size_t bytes = 0;
    std::vector<char> grown;
    while (::read(from, &bytes, sizeof bytes) == sizeof bytes) {
      grown.assign(bytes, 'x');
      if (::write(to, &bytes, sizeof bytes) != sizeof bytes) break;
    }
    ::_exit(0);
  }
  void grow(std::size_t bytes) const {
    EXPECT_EQ(::write(order.get(), &bytes, sizeof bytes), sizeof bytes);
    EXPECT_EQ(::read(answer.get(), &bytes, sizeof bytes), sizeof bytes);
  }

  pid_t pid = -1;
  UniqueFd order, answer;
};

class FamilyPlaceTest : public ::testing::Test {
 protected:
  FamilyPlaceTest() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_ = ::fork();
    while (pid_ == 0) ::pause();
    place_.take_in({.pid = pid_, .pidfd = pidfd_of(pid_), .below = Below::stay},
                   [](const Result<void>& taken) { EXPECT_TRUE(taken); });
  }
  ~FamilyPlaceTest() override {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    EXPECT_TRUE(eventually([] { return ::waitpid(-1, nullptr, WNOHANG) < 0; }));
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
  FamilyPlace place_{guardian_, loop_, families_, "step-1", Families::Counts::in_pool};
  int pid_ = 0;
};

TEST_F(FamilyPlaceTest, WhoIsHeldStandsUntilLetGo) {
  EXPECT_TRUE(place_.has(pid_));
  EXPECT_TRUE(place_.hold());
  EXPECT_TRUE(eventually([this] { return place_.keep_held(); }));
  EXPECT_EQ(state_of(pid_), 'T');
  place_.let_go();
  EXPECT_TRUE(is_in_state('S'));
}

TEST_F(FamilyPlaceTest, WhoIsContinuedBySomebodyElseIsStoppedWithoutBeingAsked) {
  place_.hold();
  ASSERT_TRUE(is_in_state('T'));
  ::kill(pid_, SIGCONT);
  ASSERT_TRUE(is_in_state('S'));
  EXPECT_TRUE(eventually([this] {
    EXPECT_TRUE(loop_.run_once(1ms));
    return state_of(pid_) == 'T';
  }));
}

// It is held before its exec, as a copy of its driver, for as long as the machine is busy.
TEST_F(FamilyPlaceTest, WhatItHasNotExecutedYetIsItsParentsMemory) {
  const std::vector<char> much(64 << 20, 'x');
  Copy copy;
  FamilyPlace held(guardian_, loop_, families_, "step-2", Families::Counts::in_pool);
  held.take_in({.pid = copy.pid, .pidfd = pidfd_of(copy.pid), .below = Below::stay},
               [](const Result<void>& taken) { EXPECT_TRUE(taken); });
  families_.measure(loop::now());
  EXPECT_TRUE(held.has(copy.pid));
  EXPECT_LT(families_.used(), Bytes{much.size()});
  // Its exec fails, say.
  copy.grow(much.size());
  families_.measure(loop::now());
  EXPECT_GE(families_.used(), Bytes{much.size()});
}

TEST_F(FamilyPlaceTest, AnAdoptedProcessIsKilled) {
  const auto set = place_.process_set(listener_);
  const UniqueFd main = pidfd_of(pid_);
  set->adopt(main.get());
  set->reap(reap::LeftBehind::skip);
  ASSERT_TRUE(eventually([this] { return state_of(pid_) == 'Z'; }));
  ASSERT_EQ(::waitpid(pid_, nullptr, 0), pid_);
  await("gone");
}

TEST_F(FamilyPlaceTest, ItIsVacatedWhenItsProcessesAreGivenAway) {
  const auto drivers = std::make_shared<FamilyPlace>(guardian_, loop_, families_, "drivers-1",
                                                     Families::Counts::beside_pool);
  const auto set = place_.process_set(listener_);
  const UniqueFd main = pidfd_of(pid_);
  set->adopt(main.get());
  place_.move_all(drivers, [] {});
  EXPECT_TRUE(drivers->has(pid_));
  EXPECT_FALSE(place_.is_populated());
  await("vacated");
}

TEST_F(FamilyPlaceTest, WhoHasAPlaceOfItsOwnStaysThere) {
  FamilyPlace above(guardian_, loop_, families_, "step-2", Families::Counts::in_pool);
  above.take_in({.pid = ::getpid(), .pidfd = pidfd_of(::getpid()), .below = Below::come},
                [](const Result<void>& taken) { EXPECT_TRUE(taken); });
  EXPECT_TRUE(above.has(::getpid()));
  EXPECT_TRUE(place_.has(pid_));
}

// As a launcher asks right after its start.
TEST_F(FamilyPlaceTest, WhoIsYoungerThanTheLastLookIsKnownByItsParents) {
  FamilyPlace drivers(guardian_, loop_, families_, "drivers-1", Families::Counts::beside_pool);
  families_.count();
  Parent parent;
  drivers.take_in({.pid = parent.pid, .pidfd = pidfd_of(parent.pid), .below = Below::stay},
                  [](const Result<void>& taken) { EXPECT_TRUE(taken); });
  EXPECT_TRUE(drivers.has(parent.child));
  EXPECT_FALSE(place_.has(parent.child));
}

TEST_F(FamilyPlaceTest, WhoIsApartStaysWhereHeIs) {
  FamilyPlace above(guardian_, loop_, families_, "step-2", Families::Counts::in_pool);
  const Parent parent;
  above.take_in({.pid = parent.pid,
                 .pidfd = pidfd_of(parent.pid),
                 .below = Below::come,
                 .apart = {procfs::stat_of(parent.child)->id}},
                [](const Result<void>& taken) { EXPECT_TRUE(taken); });
  const auto& membership = families_.process_scanner().membership();
  EXPECT_TRUE(membership.family_of(procfs::stat_of(parent.pid)->id));
  EXPECT_FALSE(membership.family_of(procfs::stat_of(parent.child)->id));
}

TEST_F(FamilyPlaceTest, WhoIsHeldIsKilled) {
  place_.hold();
  ASSERT_TRUE(is_in_state('T'));
  place_.kill();
  EXPECT_TRUE(is_in_state('Z'));
}

// As with Ctrl-Z and `fg`, and a step that was found in between.
TEST_F(FamilyPlaceTest, WhatWasHeldAfterAllWereFrozenStaysSoWhenTheyAreThawed) {
  families_.freeze_all();
  families_.freeze_all();
  ASSERT_TRUE(is_in_state('T'));
  FamilyPlace late(guardian_, loop_, families_, "step-2", Families::Counts::in_pool);
  const Parent parent;
  late.take_in({.pid = parent.pid, .pidfd = pidfd_of(parent.pid), .below = Below::come},
               [](const Result<void>& taken) { EXPECT_TRUE(taken); });
  late.hold();
  for (const int pid : {parent.pid, parent.child}) {
    ASSERT_TRUE(eventually([pid] { return state_of(pid) == 'T'; }));
  }
  families_.thaw_all();
  EXPECT_TRUE(is_in_state('S'));
  EXPECT_EQ(state_of(parent.pid), 'T');
  EXPECT_EQ(state_of(parent.child), 'T');
  late.let_go();
  EXPECT_TRUE(eventually([&] { return state_of(parent.child) == 'S'; }));
}

TEST_F(FamilyPlaceTest, AFamilyThatHasEndedNeedsNoThaw) {
  auto gone = std::make_unique<FamilyPlace>(guardian_, loop_, families_, "step-2",
                                            Families::Counts::in_pool);
  families_.freeze_all();
  gone.reset();
  families_.thaw_all();
  EXPECT_TRUE(is_in_state('S'));
}

TEST_F(FamilyPlaceTest, WhoMustNotBeStoppedIsNot) {
  place_.exempt();
  const auto set = place_.process_set(listener_);
  set->freeze();
  families_.measure(loop::now());
  EXPECT_TRUE(is_in_state('S'));
}

}  // namespace
}  // namespace plimsoll::supervisor

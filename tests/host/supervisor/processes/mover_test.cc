// Moves of processes whose numbers may be others' by then.
#include "supervisor/processes/mover.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>

#include "base/loop/loop.h"
#include "kernel/cgroup/destroy.h"
#include "kernel/cgroup/processes.h"
#include "kernel/procfs/table.h"
#include "support/host_test.h"

namespace plimsoll::supervisor {
namespace {

using plimsoll::testing::clock_now;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

pid_t sleeper() {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  for (;;) ::pause();
}

void end(pid_t pid) {
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

UniqueFd pidfd_of(pid_t pid) {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
}

// A process with this number, which is nobody's now; nothing where that can't be had.
std::optional<pid_t> sleeper_with(pid_t number) {
  constexpr int kTries = 10'000;  // others make processes, too
  for (int tries = 0; tries < kTries; ++tries) {
    std::ofstream last("/proc/sys/kernel/ns_last_pid");
    last << number - 1 << std::flush;
    if (!last) return std::nullopt;
    const pid_t made = sleeper();
    if (made == number) return made;
    end(made);
  }
  return std::nullopt;
}

struct MoverTest : plimsoll::testing::HostTest {
  bool prepare_leaf() {
    if (!prepare(plimsoll::testing::kHybrid)) return false;
    leaf_ = std::make_shared<cgroup::Leaf>(ground_->leaf("job"));
    return true;
  }
  Result<void> move(Newcomer process) {
    loop::Loop loop = std::move(*loop::Loop::create());
    Mover mover(loop);
    std::optional<Result<void>> result;
    mover.move(std::move(process), leaf_, [&result](const auto& how) { result = how; });
    while (!result) EXPECT_TRUE(loop.run_once(std::chrono::seconds(1)));
    return *result;
  }
  void TearDown() override {
    leaf_.reset();
    if (ground_) {
      for (const char* name : {"job", "other"}) {
        (void)cgroup::destroy(ground_->inner().parts(), name, clock_now() + testing::kPatience,
                              &clock_now);
      }
    }
    HostTest::TearDown();
  }

  std::shared_ptr<cgroup::Leaf> leaf_;
};

TEST_F(MoverTest, WhoLivesIsMoved) {
  if (!prepare_leaf()) GTEST_SKIP() << skipped_;
  const pid_t one = sleeper();
  EXPECT_TRUE(move({.pid = one, .pidfd = pidfd_of(one)}));
  EXPECT_THAT(*cgroup::processes_below(*leaf_), ElementsAre(one));
  end(one);
}

// A process with a child, both of which sleep.
struct Parent {
  Parent() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const UniqueFd out(ends[0]), in(ends[1]);
    pid = ::fork();
    if (pid == 0) {
      const pid_t born = sleeper();
      if (::write(in.get(), &born, sizeof born) != sizeof born) ::_exit(1);
      for (;;) ::pause();
    }
    EXPECT_EQ(::read(out.get(), &child, sizeof child), sizeof child);
  }
  Parent(const Parent&) = delete;
  Parent& operator=(const Parent&) = delete;
  ~Parent() {
    ::kill(child, SIGKILL);
    end(pid);
  }

  pid_t pid = -1, child = -1;
};

TEST_F(MoverTest, WhoLivesBelowComesIfThatIsAskedFor) {
  if (!prepare_leaf()) GTEST_SKIP() << skipped_;
  const Parent parent;
  EXPECT_TRUE(move({.pid = parent.pid, .pidfd = pidfd_of(parent.pid)}));
  EXPECT_THAT(*cgroup::processes_below(*leaf_), ElementsAre(parent.pid));
  const Parent other;
  EXPECT_TRUE(move({.pid = other.pid, .pidfd = pidfd_of(other.pid), .below = Below::come}));
  EXPECT_THAT(*cgroup::processes_below(*leaf_),
              UnorderedElementsAre(parent.pid, other.pid, other.child));
}

TEST_F(MoverTest, WhoIsApartStaysWhereHeIs) {
  if (!prepare_leaf()) GTEST_SKIP() << skipped_;
  const Parent parent;
  EXPECT_TRUE(move({.pid = parent.pid,
                    .pidfd = pidfd_of(parent.pid),
                    .below = Below::come,
                    .apart = {procfs::stat_of(parent.child)->id}}));
  EXPECT_THAT(*cgroup::processes_below(*leaf_), ElementsAre(parent.pid));
}

TEST_F(MoverTest, WhoHasAGroupOfItsOwnStaysThere) {
  if (!prepare_leaf()) GTEST_SKIP() << skipped_;
  const Parent parent;
  EXPECT_TRUE(move({.pid = parent.child, .pidfd = pidfd_of(parent.child)}));
  const auto first = std::exchange(leaf_, std::make_shared<cgroup::Leaf>(ground_->leaf("other")));
  EXPECT_TRUE(move({.pid = parent.pid, .pidfd = pidfd_of(parent.pid), .below = Below::come}));
  EXPECT_THAT(*cgroup::processes_below(*leaf_), ElementsAre(parent.pid));
  EXPECT_THAT(*cgroup::processes_below(*first), ElementsAre(parent.child));
}

TEST_F(MoverTest, WhoHasTheNumberOfADeadProcessStaysWhereHeIs) {
  if (!prepare_leaf()) GTEST_SKIP() << skipped_;
  const pid_t number = sleeper();
  UniqueFd pidfd = pidfd_of(number);
  end(number);
  const auto another = sleeper_with(number);
  if (!another) GTEST_SKIP() << "numbers of processes cannot be chosen here";
  const auto moved = move({.pid = number, .pidfd = std::move(pidfd)});
  EXPECT_TRUE(!moved && moved.error().gone());
  EXPECT_THAT(*cgroup::processes_below(*leaf_), IsEmpty());
  end(*another);
}

}  // namespace
}  // namespace plimsoll::supervisor

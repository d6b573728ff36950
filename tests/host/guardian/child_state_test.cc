#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <filesystem>
#include <thread>

#include "spawner_host.h"

// What a child has of its parent at its exec, and what not.
namespace plimsoll::testing {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr uid_t kAnother = 65'534;

// Runs it on a thread of its own, whose capabilities and filters end with it. Children are the
// process's.
template <class Do>
void on_a_thread(const Do& what) {
  std::thread(what).join();
}

// From now on the thread and its children have a kernel without close_range(2).
bool forget_close_range() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{.len = 4, .filter = program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// As a service that was given a capability, and keeps all of them whatever it becomes.
bool hold_on_to_capabilities() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
  if (::syscall(SYS_capget, &header, data) != 0) return false;
  data[0].inheritable |= 1U << CAP_NET_RAW;
  constexpr unsigned long kBits = SECBIT_NO_SETUID_FIXUP | SECBIT_NOROOT;
  return ::syscall(SYS_capset, &header, data) == 0 &&
         ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0) == 0 &&
         ::prctl(PR_SET_SECUREBITS, kBits) == 0;
}

TEST_F(SpawnerHost, DescriptorsAreMarkedOneByOneWhereTheKernelCannotDoItAtOnce) {
  PREPARE_OR_SKIP(kV1Bare);
  const UniqueFd inherited(::fcntl(0, F_DUPFD, 100));
  bool is_filtered = false;
  on_a_thread([&] {
    const cgroup::Leaf leaf = ground_->leaf("job");
    guardian::Spawner spawner(no_signals());
    SpawnRequest request = request_in(leaf, {"sh", "-c", "[ -e /proc/self/fd/100 ]; echo $?"});
    is_filtered = forget_close_range();
    EXPECT_EQ(spawn(spawner, request), kBorn);
    EXPECT_EQ(output_, "0\n") << "no descriptor was inherited at all";
    request.descriptors = guardian::Descriptors::close;
    EXPECT_EQ(spawn(spawner, request), kBorn);
    EXPECT_EQ(output_, "1\n");
    release();
  });
  if (!is_filtered) GTEST_SKIP() << "no system call can be filtered here";
}

TEST_F(SpawnerHost, AnotherUserHasNoneOfTheCallersCapabilities) {
  PREPARE_OR_SKIP(kV1Bare);
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  bool is_held = false;
  on_a_thread([&] {
    const cgroup::Leaf leaf = ground_->leaf("job");
    guardian::Spawner spawner(no_signals());
    SpawnRequest request =
        request_in(leaf, {"grep", "-E", "^Cap(Inh|Prm|Eff|Amb):", "/proc/self/status"});
    is_held = hold_on_to_capabilities();
    if (!is_held) return release();
    EXPECT_EQ(spawn(spawner, request), kBorn);
    EXPECT_THAT(lines(output_), Contains(EndsWith("2000"))) << "nothing to be kept";
    request.identity = guardian::Identity{kAnother, kAnother, {}};
    EXPECT_EQ(spawn(spawner, request), kBorn);
    EXPECT_THAT(lines(output_), Each(EndsWith("\t0000000000000000")));
    EXPECT_EQ(lines(output_).size(), 4U);
    request.argv = {"python3", "-c", "import ctypes; print(ctypes.CDLL(None).prctl(27))"};
    EXPECT_EQ(spawn(spawner, request), kBorn);
    EXPECT_EQ(output_, "0\n") << "securebits";
    release();
  });
  if (!is_held) GTEST_SKIP() << "this machine's root has no capabilities to hold on to";
}

TEST_F(SpawnerHost, ADirectoryThatTheUserMayNotEnterIsNotItsWorkingDirectory) {
  PREPARE_OR_SKIP(kV1Bare);
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const std::string closed = ::testing::TempDir() + "plimsoll-closed-" + std::to_string(::getpid());
  ASSERT_EQ(::mkdir(closed.c_str(), 0700), 0);
  {
    const cgroup::Leaf leaf = ground_->leaf("job");
    SpawnRequest request = request_in(leaf, {"pwd"});
    request.cwd = closed;
    guardian::Spawner spawner(no_signals());
    EXPECT_EQ(spawn_or_again(spawner, request), kBorn);
    EXPECT_EQ(output_, closed + "\n");
    request.identity = guardian::Identity{kAnother, kAnother, {}};
    expect_failure(request, SpawnStep::working_directory, EACCES);
    release();
  }
  std::filesystem::remove(closed);
}

// A parent that goes before others has children as they would be without that.
TEST_F(SpawnerHost, ChildrenAreAsNiceAsTheirParentWas) {
  PREPARE_OR_SKIP(kV1Bare);
  {
    const cgroup::Leaf leaf = ground_->leaf("job");
    const int before = ::getpriority(PRIO_PROCESS, 0);
    ASSERT_EQ(::setpriority(PRIO_PROCESS, 0, 3), 0);
    guardian::Spawner spawner(no_signals());
    spawner.children_are_as_nice_as_this();
    ASSERT_EQ(::setpriority(PRIO_PROCESS, 0, -5), 0);
    EXPECT_EQ(spawn_or_again(spawner, request_in(leaf, {"nice"})), kBorn);
    EXPECT_EQ(output_, "3\n");
    ASSERT_EQ(::setpriority(PRIO_PROCESS, 0, before), 0);
    release();
  }
}

TEST_F(SpawnerHost, TheEnvironmentIsThatOfTheRequestAlone) {
  PREPARE_OR_SKIP(kV1Bare);
  ::setenv("PLIMSOLL_TEST_SECRET", "of the parent", 1);
  {
    const cgroup::Leaf leaf = ground_->leaf("job");
    SpawnRequest request = request_in(leaf, {"cat", "/proc/self/environ"});
    request.env = {"PATH=/usr/bin:/bin", "A=b"};
    guardian::Spawner spawner(no_signals());
    EXPECT_EQ(spawn_or_again(spawner, request), kBorn);
    EXPECT_EQ(output_, std::string("PATH=/usr/bin:/bin\0A=b\0", 23));
    release();
  }
  ::unsetenv("PLIMSOLL_TEST_SECRET");
}

}  // namespace
}  // namespace plimsoll::testing

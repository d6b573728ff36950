#include "guardian/spawner.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>

#include "base/file.h"

namespace plimsoll::guardian {
namespace {

constexpr char kBirthByte = 'B';

// To a pipe.
class PipeReport : public ChildReport {
 public:
  explicit PipeReport(int fd) : fd_(fd) {}
  void born() override { [[maybe_unused]] const ssize_t wrote = write_again(fd_, &kBirthByte, 1); }
  void failed(const SpawnFailure& failure) override {
    [[maybe_unused]] const ssize_t wrote = write_again(fd_, &failure, sizeof failure);
  }

 private:
  int fd_;
};

// As fork(2), with a pidfd, and into the group unless `group` is -1.
long clone_child(int group, int& pidfd) {
  clone_args arguments{};
  arguments.flags = CLONE_PIDFD;
  arguments.pidfd = reinterpret_cast<std::uint64_t>(&pidfd);
  arguments.exit_signal = SIGCHLD;
  if (group >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<__u64>(group);
  }
  return ::syscall(SYS_clone3, &arguments, sizeof arguments);
}

sigset_t ignored_now() {
  sigset_t set;
  sigemptyset(&set);
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction present{};
    if (::sigaction(number, nullptr, &present) == 0 && present.sa_handler == SIG_IGN) {
      sigaddset(&set, number);
    }
  }
  return set;
}

}  // namespace

Spawner::Spawner(const sigset_t& mask) : mask_(mask), ignored_(ignored_now()) {}

void Spawner::children_are_as_nice_as_this() {
  errno = 0;
  const int nice = ::getpriority(PRIO_PROCESS, 0);
  if (errno == 0) nice_ = nice;
}

ChildSettings Spawner::settings() const {
  return {.v2 = clone_into_group_ ? EntersV2::by_birth : EntersV2::by_itself,
          .oom_score = oom_score_ ? &*oom_score_ : nullptr,
          .nice = nice_,
          .mask = mask_,
          .ignored = ignored_,
          .guardian = ::getpid()};
}

Result<SpawnedChild> Spawner::spawn(const ReceivedSpawn& request) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("make a pipe");
  UniqueFd report(ends[0]);
  const UniqueFd child_end(ends[1]);

  ChildSettings settings = this->settings();
  if (!request.v2_group) settings.v2 = EntersV2::by_itself;
  int pidfd = -1;
  long pid = clone_child(settings.v2 == EntersV2::by_birth ? request.v2_group.get() : -1, pidfd);
  if (pid < 0 && (errno == ENOSYS || errno == EPERM)) {
    // A kernel or a seccomp filter without clone3.
    clone_into_group_ = false;
    settings.v2 = EntersV2::by_itself;
    pid = ::fork();
    if (pid > 0) pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U));
  }
  if (pid == 0) {
    PipeReport told(child_end.get());
    run_child(request, settings, told);
  }
  if (pid < 0) return fail_errno("make a process");
  const Birth birth = settings.v2 == EntersV2::by_birth ? Birth::in_group : Birth::moved;
  return SpawnedChild{static_cast<pid_t>(pid), birth, UniqueFd(pidfd), std::move(report)};
}

bool Spawner::may_try_again(Birth dead) {
  const bool cloned = dead == Birth::in_group;
  if (cloned) clone_into_group_ = false;
  return cloned;
}

}  // namespace plimsoll::guardian

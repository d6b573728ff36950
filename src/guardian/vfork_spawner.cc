#include "guardian/vfork_spawner.h"

#include <linux/close_range.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <utility>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_HWADDRESS__) || defined(__SANITIZE_THREAD__)
#define PLIMSOLL_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define PLIMSOLL_SANITIZED 1
#endif
#endif

namespace plimsoll::guardian {
namespace {

#if !defined(PLIMSOLL_SANITIZED) && (defined(__x86_64__) || defined(__aarch64__))
constexpr bool kIsKnown = true;

// clone3(2) in place: the child goes on with the stack of its parent, so the call must not return
// to anybody in it (vfork(2)). A negative errno where it fails.
inline __attribute__((always_inline)) long clone3_here(clone_args& arguments) {
#if defined(__x86_64__)
  long result = 0;
  asm volatile("syscall"
               : "=a"(result)
               : "0"(static_cast<long>(SYS_clone3)), "D"(&arguments), "S"(sizeof arguments)
               : "rcx", "r11", "memory");
  return result;
#else
  register long number asm("x8") = SYS_clone3;
  register long result asm("x0") = reinterpret_cast<long>(&arguments);
  register long size asm("x1") = sizeof arguments;
  asm volatile("svc #0" : "+r"(result) : "r"(number), "r"(size) : "memory");
  return result;
#endif
}

// The frame is the parent's, which finds it as it was: the child only calls what never returns.
__attribute__((noinline)) long clone3_and_run(clone_args& arguments, void (*child)(void*),
                                              void* with) {
  const long result = clone3_here(arguments);
  if (result == 0) child(with);
  return result;
}
#else
constexpr bool kIsKnown = false;
long clone3_and_run(clone_args& /*arguments*/, void (* /*child*/)(void*), void* /*with*/) {
  return -ENOSYS;
}
#endif

// Before Linux 5.16 a process that dumps core takes all others with it that share its memory.
bool dumps_alone() {
  utsname system{};
  int major = 0, minor = 0;
  if (::uname(&system) != 0) return false;
  if (std::sscanf(system.release, "%d.%d", &major, &minor) != 2) return false;
  return std::pair(major, minor) >= std::pair(5, 16);
}

bool marks_all_descriptors() {
  return ::syscall(SYS_close_range, ~0U, ~0U, CLOSE_RANGE_CLOEXEC) == 0;
}

}  // namespace

class VforkSpawner::SharedReport : public ChildReport {
 public:
  explicit SharedReport(Birth& birth) : birth_(birth) {}
  void born() override { birth_.born = true; }
  void executes() override { birth_.executes = true; }
  void failed(const SpawnFailure& failure) override { birth_.failure = failure; }

 private:
  Birth& birth_;
};

std::unique_ptr<VforkSpawner> VforkSpawner::start(std::function<void()> go_on, Duration patience) {
  if (!kIsKnown || !dumps_alone() || !marks_all_descriptors()) return nullptr;
  UniqueFd over(::eventfd(0, EFD_CLOEXEC));
  if (!over) return nullptr;
  std::unique_ptr<VforkSpawner> made(new VforkSpawner(std::move(over)));
  made->standby_ = Standby::start(std::move(go_on), patience);
  return made->standby_ == nullptr ? nullptr : std::move(made);
}

bool VforkSpawner::takes(const ReceivedSpawn& request) {
  const bool is_plain = !request.identity && !request.exec_listener && *request.root == '\0';
  return is_plain && request.v2_group;
}

void VforkSpawner::spawn(const ReceivedSpawn& request, const ChildSettings& settings) {
  birth_.request = &request;
  birth_.settings = &settings;
  birth_.pid = 0;
  birth_.executes = false;
  birth_.pidfd = -1;
  birth_.error = 0;
  birth_.born = false;
  birth_.failure.reset();
  has_returned_ = false;
  const std::uint64_t lent = standby_->lend();
  make_child();
  if (standby_->regain(lent)) {
    has_returned_ = true;
    return;
  }
  const std::uint64_t one = 1;
  while (::write(over_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
  standby_->stand_by();
}

void VforkSpawner::run_child_of(void* of) {
  Birth& birth = *static_cast<Birth*>(of);
  SharedReport report(birth);
  run_child(*birth.request, *birth.settings, report);
}

void VforkSpawner::make_child() {
  clone_args arguments{};
  arguments.flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | CLONE_PARENT_SETTID | CLONE_INTO_CGROUP;
  arguments.pidfd = reinterpret_cast<std::uint64_t>(&birth_.pidfd);
  arguments.parent_tid = reinterpret_cast<std::uint64_t>(&birth_.pid);
  arguments.exit_signal = SIGCHLD;
  arguments.cgroup = static_cast<__u64>(birth_.request->v2_group.get());
  const long pid = clone3_and_run(arguments, &run_child_of, &birth_);
  if (pid >= 0) return;
  birth_.error = static_cast<int>(-pid);
  birth_.pidfd = -1;  // the kernel has written a number of a descriptor that it has closed again
}

VforkSpawner::Outcome VforkSpawner::take() {
  std::uint64_t births = 0;
  while (!has_returned_ && ::read(over_.get(), &births, sizeof births) < 0 && errno == EINTR) {
  }
  birth_.request = nullptr;
  return {.error = static_cast<std::errc>(birth_.error),
          .pid = birth_.pid,
          .pidfd = UniqueFd(std::exchange(birth_.pidfd, -1)),
          .born = birth_.born || !has_returned_,
          .failure = birth_.failure};
}

bool VforkSpawner::wait(Duration patience) const {
  pollfd over{.fd = over_.get(), .events = POLLIN, .revents = 0};
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(patience).count();
  return ::poll(&over, 1, static_cast<int>(ms)) > 0;
}

bool VforkSpawner::kill(Kill when) const {
  const pid_t child = birth_.pid;
  if (child <= 0 || (when == Kill::before_exec && birth_.executes)) return false;
  return ::kill(child, SIGKILL) == 0;
}

}  // namespace plimsoll::guardian

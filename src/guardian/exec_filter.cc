#include "guardian/exec_filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)  // Linux 5.19
#endif

namespace plimsoll::guardian {
namespace {

constexpr unsigned kExecveOf32 = 11;  // of i386
constexpr unsigned kExecveatOf32 = 358;

constexpr sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}
constexpr sock_filter skip_if(std::uint32_t value, std::uint8_t yes, std::uint8_t no) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no);
}
constexpr sock_filter answer(std::uint32_t with) { return BPF_STMT(BPF_RET | BPF_K, with); }

// The numbers of x32 are those of x86-64 with a bit set, but for these two calls, which have their
// own there.
constexpr unsigned kX32 = 0x40000000;
constexpr unsigned kExecveOfX32 = kX32 + 520;
constexpr unsigned kExecveatOfX32 = kX32 + 545;

// Jumps count the instructions that are left out.
std::array filter = {
#if defined(__x86_64__)
    load(offsetof(seccomp_data, arch)), skip_if(AUDIT_ARCH_I386, 5, 0),
    load(offsetof(seccomp_data, nr)),   skip_if(__NR_execve, 6, 0),
    skip_if(__NR_execveat, 5, 0),       skip_if(kExecveOfX32, 4, 0),
    skip_if(kExecveatOfX32, 3, 4),      load(offsetof(seccomp_data, nr)),
    skip_if(kExecveOf32, 1, 0),         skip_if(kExecveatOf32, 0, 1),
#else
    load(offsetof(seccomp_data, nr)), skip_if(__NR_execve, 1, 0), skip_if(__NR_execveat, 0, 1),
#endif
    answer(SECCOMP_RET_USER_NOTIF),     answer(SECCOMP_RET_ALLOW),
};

// Once the holder has heard of a call only fatal signals interrupt it, where the kernel has that:
// else a signal begins the call anew, and it is told twice.
long listen_to_execs() {
  const sock_fprog program{.len = filter.size(), .filter = filter.data()};
  constexpr unsigned long kListen = SECCOMP_FILTER_FLAG_NEW_LISTENER;
  const long listener = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                  kListen | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program);
  if (listener >= 0 || errno != EINVAL) return listener;
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, kListen, &program);
}

// On its own: without the right to it the kernel asks for no_new_privs first.
long install() {
  const long listener = listen_to_execs();
  if (listener >= 0 || errno != EACCES) return listener;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return listen_to_execs();
}

bool send_descriptor(int socket, int fd) {
  char byte = 0;
  iovec text{.iov_base = &byte, .iov_len = 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof fd)> control{};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

}  // namespace

bool install_exec_filter(int socket) {
  const long listener = install();
  if (listener < 0) return false;
  const bool sent = send_descriptor(socket, static_cast<int>(listener));
  const int why = errno;
  ::close(static_cast<int>(listener));
  errno = why;
  return sent;
}

// A kernel that knows the flags goes on to look for the program, which is not there.
bool signals_interrupt_execs() {
  constexpr unsigned long kFlags =
      SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, kFlags, nullptr) >= 0 || errno != EFAULT;
}

int try_exec_filter() {
  const pid_t child = ::fork();
  if (child < 0) return errno;
  if (child == 0) ::_exit(install() < 0 ? errno : 0);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return errno;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : ENOSYS;
}

}  // namespace plimsoll::guardian

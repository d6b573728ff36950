#include "guardian/split_steps.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>

namespace plimsoll::guardian {
namespace {

// A name of its own, so that a pkill of one does not hit the other.
constexpr const char* kSupervisorName = "pl-supervisor";

constexpr std::array kSignals = {SIGCHLD, SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                 SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH};

}  // namespace

sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : kSignals) sigaddset(&set, number);
  return set;
}

sigset_t ignored_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : kSignals) {
    struct sigaction before{};
    ::sigaction(number, nullptr, &before);
    if (before.sa_handler == SIG_IGN) sigaddset(&set, number);
  }
  return set;
}

void die_of(int signal) {
  const rlimit no_core{};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(signal, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  ::raise(signal);
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

void occupy_stdio() {
  int fd = 0;
  while (fd >= 0 && fd < 3) fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (fd >= 3) ::close(fd);
}

rlimit raise_descriptor_limit() {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit most{.rlim_cur = before.rlim_max, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &most);
  return before;
}

void begin_as_supervisor() {
  ::setpgid(0, 0);
  ::prctl(PR_SET_NAME, kSupervisorName);
  // What the kernel sends a stopped group of processes when its last parent outside is gone
  // (setpgid(2)): the guardian may be killed while the supervisor is stopped, who then has to clean
  // up.
  ::signal(SIGHUP, SIG_IGN);
  // In the background of the terminal, writing must neither stop nor fail.
  ::signal(SIGTTOU, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  // A file at the bound of its size (setrlimit(2)) is an error of the write like a full disk.
  ::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace plimsoll::guardian

#include "cli/exec/held_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "cli/command/diagnostics.h"
#include "cli/command/exit_status.h"
#include "report/plain.h"

namespace plimsoll::cli {
namespace {

constexpr std::uint64_t kKilo = 1024;

// As this process was started with.
sigset_t inherited_mask{};
struct sigaction inherited_child{};

Duration duration_of(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

// In the child, which has one thread and a copy of all memory.
[[noreturn]] void await_and_execute(const std::vector<std::string>& command, int gate,
                                    std::array<int, 2> output, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kPlimsollFailed);  // it died before that was asked for
  ::sigaction(SIGCHLD, &inherited_child, nullptr);
  ::sigprocmask(SIG_SETMASK, &inherited_mask, nullptr);
  char go = 0;
  ssize_t got = 0;
  if (output[0] >= 0) ::dup2(output[0], STDOUT_FILENO);
  if (output[1] >= 0) ::dup2(output[1], STDERR_FILENO);
  do {
    got = ::read(gate, &go, 1);
  } while (got < 0 && errno == EINTR);
  ::_exit(got == 1 ? execute(command) : kPlimsollFailed);
}

}  // namespace

Result<UniqueFd> take_signals() {
  struct sigaction plain{};
  plain.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &plain, &inherited_child);  // one that is ignored could not be waited for
  sigset_t taken{};
  ::sigemptyset(&taken);
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2}) {
    ::sigaddset(&taken, number);
  }
  if (::sigprocmask(SIG_BLOCK, &taken, &inherited_mask) != 0) return fail_errno("block signals");
  UniqueFd fd(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return fail_errno("make a descriptor for signals");
  return fd;
}

Result<HeldProcess> HeldProcess::start(const std::vector<std::string>& command,
                                       std::array<int, 2> output) {
  int ends[2] = {-1, -1};
  // No pipe: a write to one whose reader has died raises a signal.
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail_errno("make a pair of sockets");
  }
  UniqueFd inner(ends[0]), outer(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno("fork");
  if (pid == 0) {
    outer = UniqueFd();  // else its own end would keep the gate open
    await_and_execute(command, inner.get(), output, parent);
  }
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd) return fail_errno("open the command's process");
  return HeldProcess(pid, std::move(pidfd), std::move(outer));
}

void HeldProcess::release() {
  const char go = 1;
  // Who has died meanwhile is waited for all the same.
  [[maybe_unused]] const auto sent = ::send(gate_.get(), &go, 1, MSG_NOSIGNAL);
  gate_ = UniqueFd();
  is_released_ = true;
}

void HeldProcess::signal(int number) const {
  ::syscall(SYS_pidfd_send_signal, pidfd_.get(), number, nullptr, 0);
}

Result<ProcessEnd> HeldProcess::wait() {
  siginfo_t info{};
  rusage usage{};
  long waited = 0;
  do {
    // The library's waitid() leaves the last argument out.
    waited = ::syscall(SYS_waitid, P_PIDFD, pidfd_.get(), &info, WEXITED, &usage);
  } while (waited != 0 && errno == EINTR);
  if (waited != 0) return fail_errno("wait for the command");
  return ProcessEnd{.code = info.si_status,
                    .by_signal = info.si_code != CLD_EXITED,
                    .peak = Bytes{static_cast<std::uint64_t>(usage.ru_maxrss) * kKilo},
                    .cpu = duration_of(usage.ru_utime) + duration_of(usage.ru_stime)};
}

int end_like(const ProcessEnd& end) {
  if (!end.by_signal) return end.code;
  // One core file is enough.
  const rlimit none{};
  ::setrlimit(RLIMIT_CORE, &none);
  ::signal(end.code, SIG_DFL);
  sigset_t one{};
  ::sigemptyset(&one);
  ::sigaddset(&one, end.code);
  ::sigprocmask(SIG_UNBLOCK, &one, nullptr);
  ::raise(end.code);
  return kSignalBase + end.code;
}

int execute(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv.front(), argv.data());
  const int why = errno;
  complain("exec: could not execute \"" + report::printable(command.front()) +
           "\": " + std::make_error_code(static_cast<std::errc>(why)).message());
  return why == ENOENT ? kNotFound : kCannotExecute;
}

}  // namespace plimsoll::cli

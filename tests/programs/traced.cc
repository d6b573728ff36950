// traced [stopped]: a process that another of the same group traces: it sits at a stop of
// ptrace(2), or runs on under it. Checks: that such a one is frozen and dies as others do, whatever
// its tracer would say to it.
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "program.h"

int main(int argc, char** argv) {
  const pid_t child = ::fork();
  if (child < 0) die("fork");
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) die("trace");
    ::raise(SIGSTOP);
    sleep_for_ever();
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) die("wait");
  const bool goes_on = !is(argc, argv, 1, "stopped");
  if (goes_on && ::ptrace(PTRACE_CONT, child, nullptr, nullptr) != 0) die("continue");
  ready();
  sleep_for_ever();
}

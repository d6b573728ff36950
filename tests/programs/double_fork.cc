// double_fork [N]: leaves N daemons behind (fork, setsid, fork) and exits 0 itself.
// Checks: that processes outside the session and process group of a job are found and named.
#include <sys/wait.h>

#include "program.h"

int main(int argc, char** argv) {
  const unsigned long count = number(argc, argv, 1, 1);
  for (unsigned long i = 0; i < count; ++i) {
    const pid_t middle = ::fork();
    if (middle < 0) die("fork");
    if (middle == 0) {
      ::setsid();
      if (::fork() != 0) ::_exit(0);
      sleep_for_ever();
    }
    ::waitpid(middle, nullptr, 0);
  }
  ready();
  return 0;
}

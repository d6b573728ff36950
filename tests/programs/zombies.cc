// zombies [N [exit]]: leaves N children unwaited for; sleeps, or exits so that they are orphans.
// Checks: that zombies do not count as living, and that orphans are collected.
#include <sys/wait.h>

#include <csignal>

#include "program.h"

int main(int argc, char** argv) {
  const unsigned long count = number(argc, argv, 1, 10);
  for (unsigned long i = 0; i < count; ++i) {
    const pid_t child = ::fork();
    if (child < 0) die("fork");
    if (child == 0) ::_exit(0);
    siginfo_t ended{};
    // WNOWAIT: waits until it is a zombie and leaves it one.
    ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  }
  ready();
  if (is(argc, argv, 2, "exit")) return 0;
  sleep_for_ever();
}

// forkbomb [N [sleep|churn]]: becomes N processes that sleep, or fork and exit without a pause.
// Checks: that a kill catches all of a big tree, and children born while it is being killed.
#include <sys/prctl.h>
#include <sys/wait.h>

#include <csignal>

#include "program.h"

namespace {

// Each generation lives as long as it takes to make the next.
[[noreturn]] void churn() {
  for (;;) {
    const pid_t child = ::fork();
    if (child > 0) ::_exit(0);
    // Refused (pids.max): as a process that goes on trying.
  }
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned long count = number(argc, argv, 1, 200);
  const bool churning = is(argc, argv, 2, "churn");
  std::signal(SIGCHLD, SIG_IGN);  // no zombies
  int gate[2];  // opens when all are there: a few that churn starve who makes more
  if (::pipe(gate) != 0) die("pipe");
  for (unsigned long i = 1; i < count; ++i) {
    const pid_t child = ::fork();
    if (child < 0) die("fork");
    if (child > 0) continue;
    ::close(gate[1]);
    char nothing = 0;
    if (churning && ::read(gate[0], &nothing, sizeof nothing) == 0) churn();
    sleep_for_ever();
  }
  ready();
  ::close(gate[1]);
  if (churning) churn();
  sleep_for_ever();
}

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
  for (unsigned long i = 1; i < count; ++i) {
    const pid_t child = ::fork();
    if (child < 0) die("fork");
    if (child > 0) continue;
    if (churning) churn();
    sleep_for_ever();
  }
  ready();
  if (churning) churn();
  sleep_for_ever();
}

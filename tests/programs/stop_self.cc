// stop_self: stops itself by SIGSTOP, as a job does that wants the terminal in the background.
// Checks: that a stopped process is killed like any other and is not taken for a frozen one.
#include <csignal>

#include "program.h"

int main() {
  ready();
  std::raise(SIGSTOP);
  sleep_for_ever();
}

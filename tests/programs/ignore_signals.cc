// ignore_signals: ignores SIGTERM, SIGHUP, SIGINT and SIGQUIT, and sleeps.
// Checks: that a polite end is followed by one that can't be refused.
#include <csignal>

#include "program.h"

int main() {
  for (const int number : {SIGTERM, SIGHUP, SIGINT, SIGQUIT}) std::signal(number, SIG_IGN);
  ready();
  sleep_for_ever();
}

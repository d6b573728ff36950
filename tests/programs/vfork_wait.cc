// vfork_wait: sits in vfork() for a child that neither exits nor executes.
// Checks: a process in an uninterruptible wait of the kernel's own making, beside its child.
#include "program.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

int main() {
  ready();
  const pid_t child = ::vfork();
  if (child < 0) die("vfork");
  if (child == 0) sleep_for_ever();
  return 0;
}

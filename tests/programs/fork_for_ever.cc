// fork_for_ever: makes children that exit at once, one after the other, without end.
// Checks: counters of a group that is never still, and looks at processes that are gone.
#include <sys/wait.h>

#include "program.h"

int main() {
  for (unsigned long made = 0;; ++made) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    if (child > 0) ::waitpid(child, nullptr, 0);
    if (made == 0) ready();
  }
}

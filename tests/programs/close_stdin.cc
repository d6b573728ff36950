// close_stdin [all]: closes its stdin, or stdin, stdout and stderr, and sleeps.
// Checks: that the end of a pipe is not taken for the end of a job, and nobody dies of SIGPIPE.
#include "program.h"

int main(int argc, char** argv) {
  ready();
  ::close(STDIN_FILENO);
  if (is(argc, argv, 1, "all")) {
    ::close(STDOUT_FILENO);
    ::close(STDERR_FILENO);
  }
  sleep_for_ever();
}

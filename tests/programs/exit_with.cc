// exit_with code N | signal N | core N: ends so at once; only `core` may leave a core file.
// Checks: wait statuses and their way into outcomes and exit codes.
#include <sys/resource.h>

#include <csignal>

#include "program.h"

int main(int argc, char** argv) {
  const int value = static_cast<int>(number(argc, argv, 2, 0));
  if (is(argc, argv, 1, "code")) return value;
  if (is(argc, argv, 1, "signal")) {
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    ::setrlimit(RLIMIT_CORE, &none);
  }
  std::signal(value, SIG_DFL);
  std::raise(value);
  sleep_for_ever();
}

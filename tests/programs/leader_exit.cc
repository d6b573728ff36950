// leader_exit [N]: its main thread ends while N others go on.
// Checks: a process that /proc shows as a zombie although it lives.
#include <pthread.h>

#include <thread>

#include "program.h"

int main(int argc, char** argv) {
  const unsigned long count = number(argc, argv, 1, 2);
  for (unsigned long i = 0; i < count; ++i) std::thread(sleep_for_ever).detach();
  ready();
  ::pthread_exit(nullptr);
}

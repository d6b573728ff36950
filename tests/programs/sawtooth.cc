// sawtooth [PEAK_MIB [STEPS [MS_PER_STEP [TEETH]]]]: grows to the peak in steps, lets all go, so
// often or for ever (0).
// Checks: peaks seen although samples miss them; no freezes and thaws that follow each tooth.
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "program.h"

int main(int argc, char** argv) {
  const unsigned long peak = number(argc, argv, 1, 64) << 20;
  const unsigned long steps = std::max(1UL, number(argc, argv, 2, 4));
  const std::chrono::milliseconds pause(number(argc, argv, 3, 100));
  const unsigned long teeth = number(argc, argv, 4, 0);
  void* const memory =
      ::mmap(nullptr, peak, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) die("mmap");
  for (unsigned long tooth = 0; teeth == 0 || tooth < teeth; ++tooth) {
    for (unsigned long i = 0; i < steps; ++i) {
      std::memset(static_cast<char*>(memory) + i * (peak / steps), 1, peak / steps);
      std::this_thread::sleep_for(pause);
    }
    if (tooth == 0) ready();
    if (::madvise(memory, peak, MADV_DONTNEED) != 0) die("madvise");
    std::this_thread::sleep_for(pause);
  }
}

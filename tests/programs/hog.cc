// hog [MIB [MB_PER_SECOND [exit|locked]]]: touches memory at that rate (0: at once).
// Checks: limits, forecasts and freezes against steady growth; memory that is to be given back.
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "program.h"

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  constexpr unsigned long kStep = 1 << 20;
  const unsigned long steps = number(argc, argv, 1, 64);
  const unsigned long rate = number(argc, argv, 2, 0);  // MB/s
  void* const memory = ::mmap(nullptr, steps * kStep, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) die("mmap");
  if (is(argc, argv, 3, "locked") && ::mlock2(memory, steps * kStep, MLOCK_ONFAULT) != 0) {
    die("mlock2");
  }
  const auto began = Clock::now();
  for (unsigned long i = 0; i < steps; ++i) {
    std::memset(static_cast<char*>(memory) + i * kStep, 1, kStep);
    if (rate == 0) continue;
    const double seconds = static_cast<double>((i + 1) * kStep) / (1e6 * static_cast<double>(rate));
    std::this_thread::sleep_until(began + std::chrono::duration_cast<Clock::duration>(
                                              std::chrono::duration<double>(seconds)));
  }
  ready();
  if (is(argc, argv, 3, "exit")) return 0;
  sleep_for_ever();
}

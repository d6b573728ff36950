// burn [THREADS [SECONDS]]: computes on all its threads; 0 seconds is for ever.
// Checks: CPU counters, quotas, and that a throttled group still freezes and dies quickly.
#include <chrono>
#include <thread>
#include <vector>

#include "program.h"

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  const unsigned long count = number(argc, argv, 1, 1);
  const unsigned long seconds = number(argc, argv, 2, 0);
  const auto end = Clock::now() + std::chrono::seconds(seconds);
  ready();
  std::vector<std::thread> threads;
  for (unsigned long i = 0; i < count; ++i) {
    threads.emplace_back([=] {
      volatile unsigned long work = 0;
      while (seconds == 0 || Clock::now() < end) {
        for (unsigned long j = 0; j < 100'000; ++j) work = work + j;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

#include "guardian/heap_reserve.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace plimsoll::guardian {
namespace {

#ifndef PLIMSOLL_SANITIZED  // with a heap of its own

TEST(HeapReserve, ManyMegabytesThatWereUsedOnceAreGivenBack) {
  HeapReserve stock;
  stock.fill(Instant{});
  const auto* const before = static_cast<const char*>(::sbrk(0));
  {
    std::vector<std::string> things;
    for (int i = 0; i < 1000; ++i) things.emplace_back(100'000, 'x');
  }
  EXPECT_LT(static_cast<const char*>(::sbrk(0)) - before, 8 << 20);
}

// As the messages of large commands come: one after the other, more than one at once.
TEST(HeapReserve, LargeBlocksOfOneThatForksAreNotKept) {
  HeapReserve stock(HeapReserve::kBlockOfForking);
  stock.fill(Instant{});
  const auto* const before = static_cast<const char*>(::sbrk(0));
  for (int i = 0; i < 10; ++i) {
    std::string body;
    for (int k = 0; k < 2'000'000; ++k) body += 'x';
    const std::vector<const char*> words(250'000, body.data());
    const std::string next = body;
    EXPECT_LE(static_cast<const char*>(::sbrk(0)) - before, 1 << 20) << words.size();
  }
}

long page_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

// As many small things as a decision makes, all held at once.
void take(std::size_t bytes) {
  constexpr std::size_t kEach = 200;
  std::vector<std::string> things;
  things.reserve(bytes / kEach);
  for (std::size_t taken = 0; taken < bytes; taken += 2 * kEach) things.emplace_back(kEach, 'x');
}

TEST(HeapReserve, WhatIsTakenFromItAsksTheKernelForNothing) {
  HeapReserve stock;
  Instant now{};
  stock.fill(now);
  const void* const end = ::sbrk(0);
  const long before = page_faults();
  take(HeapReserve::kBytes / 2);
  EXPECT_LE(page_faults() - before, 2);  // of the code itself, when it runs for the first time
  EXPECT_EQ(::sbrk(0), end);
}

TEST(HeapReserve, IsFilledAgain) {
  HeapReserve stock;
  Instant now{};
  stock.fill(now);
  const std::string held(HeapReserve::kBytes - 1000, 'x');
  now += std::chrono::milliseconds(999);
  stock.fill(now);
  now += std::chrono::milliseconds(1);
  stock.fill(now);
  const long before = page_faults();
  take(HeapReserve::kBytes / 2);
  EXPECT_LE(page_faults() - before, 2);
}

#endif

}  // namespace
}  // namespace plimsoll::guardian

#pragma once

#include <cstddef>
#include <optional>

#include "base/units.h"

namespace plimsoll::guardian {

// Memory that is there before it is needed: from an alarm to the kill, and to the next after it,
// this process asks the kernel for none, which on a machine that has none left it would wait for.
//
// What the heap has got it keeps, and once a second a piece of kBytes of it is written to and given
// back. Together with lock_memory() it then stays. For the thread whose heap is to be stocked, the
// main one.
class HeapStock {
 public:
  // A decision over 10,000 jobs and what is written of it takes less.
  static constexpr std::size_t kBytes = std::size_t{1} << 20;

  // For the whole process, and for good: malloc takes blocks up to four times kBytes from the heap,
  // and gives back to the kernel what is free beyond that, less a kBytes.
  HeapStock();

  // Some microseconds once a second, nothing in between.
  void fill(Instant now);

 private:
  std::optional<Instant> filled_;
};

}  // namespace plimsoll::guardian

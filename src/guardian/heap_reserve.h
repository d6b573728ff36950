#pragma once

#include <cstddef>
#include <optional>

#include "base/units.h"

namespace plimsoll::guardian {

// Memory that is there before it is needed: what this process takes between an alarm and the kill,
// up to kBytes, is not asked of the kernel, for which it would wait on a machine that has none
// left.
//
// What the heap has got it keeps, and once a second a piece of kBytes of it is written to and given
// back. Together with lock_memory() it then stays. For the thread whose heap is to be stocked, the
// main one.
class HeapReserve {
 public:
  // Rounds of evictions take less: a trace of the supervisor shows neither brk nor mmap in them.
  static constexpr std::size_t kBytes = std::size_t{1} << 20;

  // For the whole process, and for good: malloc takes blocks up to four times kBytes from the heap,
  // and gives back to the kernel what is free beyond that, less a kBytes.
  HeapReserve();

  // Some microseconds once a second, nothing in between.
  void fill(Instant now);

 private:
  std::optional<Instant> filled_;
};

}  // namespace plimsoll::guardian

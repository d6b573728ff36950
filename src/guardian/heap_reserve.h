#pragma once

#include <cstddef>
#include <optional>

#include "base/units.h"

namespace plimsoll::guardian {

// Memory that is there before it is needed: what this process takes between an alarm and the kill,
// up to kBytes, is not asked of the kernel, for which it would wait on a machine that has none
// left.
//
// What the heap has got it keeps, and once a second kBytes of it are written to and given back, in
// one piece if it may have blocks so large. Together with lock_memory() it then stays. For the
// thread whose heap is to be stocked, the main one.
class HeapReserve {
 public:
  // Rounds of evictions take less: a trace of the supervisor shows neither brk nor mmap in them.
  static constexpr std::size_t kBytes = std::size_t{1} << 20;

  // A process that forks often takes less of the heap, as each fork copies the table of its pages:
  // larger blocks than this come from the kernel, and go back to it.
  static constexpr std::size_t kBlockOfForking = std::size_t{128} << 10;

  // For the whole process, and for good: malloc takes blocks up to `block_max` from the heap, and
  // gives back to the kernel what is free beyond that or twice kBytes, less a kBytes.
  explicit HeapReserve(std::size_t block_max = 4 * kBytes);

  // Some microseconds once a second, nothing in between.
  void fill(Instant now);

 private:
  std::size_t piece_;
  std::optional<Instant> filled_;
};

}  // namespace plimsoll::guardian

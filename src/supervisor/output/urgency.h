#pragma once

#include <cstdint>

#include "base/units.h"

namespace plimsoll::output {

// From so much on in so short a time jobs wait for whoever reads their output.
inline constexpr std::uint64_t kFloodBytes = 1 << 20;
inline constexpr Duration kFloodTime = std::chrono::milliseconds(50);

// How the thread that reads what jobs write competes with them for the cores. Mostly it interrupts
// nobody when it wakes up (SCHED_BATCH): what stands in a pipe can wait until a core is free, or
// for the end of somebody's slice, and each job that ends would interrupt another. While much is
// written it is a thread like others.
//
// Used on that thread; its other threads keep what they have.
class Urgency {
 public:
  Urgency();
  // After each turn. `received`: bytes, all that were read so far.
  void note(std::uint64_t received, Instant now);

 private:
  std::uint64_t received_ = 0;  // at since_
  Instant since_{};
  int policy_;
};

}  // namespace plimsoll::output

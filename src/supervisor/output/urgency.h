#pragma once

#include <cstdint>
#include <optional>

#include "base/units.h"

namespace plimsoll::output {

// What a pipe holds (pipe(7)): from so much on in so short a time somebody may be waiting for it to
// be read, or for what is printed.
inline constexpr std::uint64_t kFloodBytes = 64 << 10;
inline constexpr Duration kFloodTime = std::chrono::milliseconds(50);

// How the thread that reads what jobs write competes with them for the cores. Mostly it interrupts
// nobody when it wakes up (SCHED_BATCH): what stands in a pipe can wait until a core is free, or
// for the end of somebody's slice, and each job that ends would interrupt another. While much is
// written it is a thread like others. Where somebody has chosen another policy, that stays.
//
// Made and used on that thread.
class Urgency {
 public:
  Urgency();
  // After each turn. `moved`: bytes, all that were read and printed so far.
  void note(std::uint64_t moved, Instant now);

 private:
  std::uint64_t moved_ = 0;  // at since_
  Instant since_{};
  std::optional<int> policy_;  // absent: not ours to choose
};

}  // namespace plimsoll::output

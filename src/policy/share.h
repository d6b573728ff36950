#pragma once

#include <cstddef>
#include <span>

#include "base/units.h"

// One line, several runs: who may use how much of it.
namespace plimsoll::policy {

// What one run tells the others of the same machine.
struct LineClaim {
  Bytes used{};           // by its pool, now
  Bytes claimed{};        // what its running jobs are believed to reach; at least `used`
  bool wanting = false;   // it has jobs that wait for memory
  std::size_t running{};  // jobs
};

// A run is left at least this share of the line, however much the others hold: with less it could
// not tell a job that is too big from one that came at a bad time.
inline constexpr std::size_t kShareMinDivisor = 16;

// The line that a run may plan with, of the whole `line` of the machine: what the others have not
// claimed; at least its fair share as far as that is not in use; while others want more, not above
// the fair share, but what is in use already need not be given back at once. A run whose only job
// is bigger than all that gets whatever is not in use.
[[nodiscard]] Bytes share_of(Bytes line, const LineClaim& own, std::span<const LineClaim> others);

}  // namespace plimsoll::policy

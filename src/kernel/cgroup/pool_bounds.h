#pragma once

#include <optional>

#include "base/result.h"
#include "base/units.h"
#include "kernel/cgroup/directory.h"

// The limits of memory that stand at the line of a pool: the kernel's part of holding it.
//
// On v2 `high` (memory.high) throttles whoever allocates past it and never kills; `max`
// (memory.max) a little above has the kernel's killer act within the pool before it acts on the
// whole machine. v1 has no throttle: there `max` (memory.limit_in_bytes) alone, well above the
// line. All act on the pool's directory of the memory controller.
namespace plimsoll::cgroup {

struct PoolBounds {
  std::optional<Bytes> high;  // v2 only; absent: none
  std::optional<Bytes> max;   // absent: none
  bool operator==(const PoolBounds&) const = default;
};

// Sets both, in the order in which high never stands above max. A `max` that would be below what
// the pool has now, clean pages counted, is left as it was: on v2 the kernel would kill at once.
//
// Blocks: the kernel takes pages back in the writer where a limit comes to stand below what is in
// use, up to seconds. Never on a thread that must not wait.
Result<void> set_pool_limits(const Directory& memory, const PoolBounds& limits);

// Takes away what throttles; v1 has nothing of the kind. Never blocks.
Result<void> lift_throttle(const Directory& memory);

// Takes away both. Never blocks.
Result<void> remove_pool_limits(const Directory& memory);

}  // namespace plimsoll::cgroup

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "kernel/counters/usage.h"

// The memory counters of a group.
namespace plimsoll::counters {

// memory.stat of v2. Keys in bytes, but for the counts of pages and faults.
MemoryStat parse_memory_stat_v2(std::string_view text);

// memory.stat of v1, whose total_* keys count the group with its children.
struct MemoryStatV1 {
  MemoryStat stat;            // anon is total_rss; file is total_cache, shmem included as on v2
  std::optional<Bytes> swap;  // total_swap; absent where swap is not accounted
};
MemoryStatV1 parse_memory_stat_v1(std::string_view text);

// What can't be dropped: anon + shmem + kernel less reclaimable slab + dirty + writeback. On v1,
// where slab is not told apart, `kernel` is memory.kmem.usage_in_bytes. Kernels before 5.18 print
// no `kernel`: slab, kernel stacks and page tables stand in for it. Absent if a part is absent.
std::optional<Bytes> used_of(const MemoryStat& stat);

// memory.events of v2.
MemoryEvents parse_memory_events(std::string_view text);

// memory.oom_control of v1.
struct OomControl {
  bool kill_disabled = false;
  bool under_oom = false;                 // a task sleeps at the limit
  std::optional<std::uint64_t> oom_kill;  // since 4.13
};
OomControl parse_oom_control(std::string_view text);

// memory.limit_in_bytes of v1. "No limit" is the highest multiple of the page size that a long
// holds (9223372036854771712 with pages of 4 KiB), so anything above kV1LimitMax means none.
inline constexpr Bytes kV1LimitMax{1ULL << 62};
std::optional<Bytes> parse_limit_v1(std::string_view text);

}  // namespace plimsoll::counters

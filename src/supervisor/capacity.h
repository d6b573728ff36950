#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "base/units.h"
#include "kernel/cgroup/directory.h"

namespace plimsoll::supervisor {

// The limit of a group in the hierarchy that has the memory controller; nothing if it has none, or
// if it can't be read. v2 says "max" for none, v1 a number beyond any memory.
std::optional<Bytes> memory_limit(const cgroup::Directory& memory);

// The memory that a group can have at most, whatever its own limit: the least of `total` (MemTotal)
// and the limits of all its ancestors that can be seen. `memory` is the group in the hierarchy that
// has the memory controller.
Bytes memory_capacity(const cgroup::Directory& memory, Bytes total);

// Whether the machine can swap at all, to a disk or to zram.
bool has_swap();

// Of a job: up to 18 counters, 4 directories, 4 ends of pipes, a pidfd; and as many of one that has
// ended and is not closed yet.
inline constexpr std::uint64_t kDescriptorsPerJob = 50;
// Files, sockets and pipes of our own.
inline constexpr std::uint64_t kDescriptorsOfOurs = 200;

// How many this process may have open (RLIMIT_NOFILE); nothing: any number.
std::optional<std::uint64_t> descriptor_limit();
// How many jobs at once so many suffice for; at least 1.
unsigned jobs_by_descriptors(std::uint64_t descriptors);
// An error says that this process may not have enough open for so many jobs at once.
Result<void> check_jobs_at_once(unsigned jobs);

// What is left of `capacity` to everybody else when the line is not named: a twentieth, and at
// least half a GiB, but of small machines no more than an eighth.
Bytes default_reserve(Bytes capacity);

}  // namespace plimsoll::supervisor

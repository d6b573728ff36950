#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "kernel/counters/usage.h"

// The I/O counters of a group, as sums over its devices. Stacked devices (dm over a disk) are
// counted once each, as the kernel lists them.
namespace plimsoll::counters {

// io.stat of v2 (cgroup-v2, "IO Interface Files"):
//
//   8:16 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=0 dios=0
//
// A line may hold its device alone, and keys of I/O controllers with values of any form; both add
// nothing. A key that no line has is absent, but an empty file, which means that no device was
// used, gives zeros.
IoUsage parse_io_stat(std::string_view text);

// blkio.throttle.io_service_bytes and io_serviced of v1, with or without _recursive:
//
//   8:0 Read 4096
//   8:0 Write 8192
//   Total 12288
//
// Absent where no line of a device tells: an idle group and a kernel that doesn't count look alike.
struct BlkioCounts {
  std::optional<std::uint64_t> read;
  std::optional<std::uint64_t> write;
  std::optional<std::uint64_t> discard;
};
BlkioCounts parse_blkio(std::string_view text);

}  // namespace plimsoll::counters

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernel/cgroup/group.h"
#include "kernel/counters/kernel_file.h"
#include "kernel/counters/usage.h"

namespace plimsoll::counters {

// The I/O counters of a group, as sums over its devices. Stacked devices (dm over a disk) are
// counted once each, as the kernel lists them.

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

// The I/O counters of a group: io.stat of v2, or blkio of v1.
class IoFiles {
 public:
  explicit IoFiles(const cgroup::Group& group);

  // Brings the counters up to date; what can't be read stays as it is.
  void read(IoUsage& io, std::string& buffer);
  // KernelFile::has_failed() of any.
  [[nodiscard]] bool has_failed() const;
  void note(Unavailable& unavailable) const;

 private:
  KernelFile stat_;    // v2
  KernelFile bytes_;   // v1
  KernelFile counts_;  // v1
  std::string missing_;
  bool counted_ = false;  // v1: a device has been named
};

}  // namespace plimsoll::counters

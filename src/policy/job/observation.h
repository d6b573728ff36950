#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"

// What the governor is told of a running job and of the machine: values that the real machine and
// the simulated one both give.
namespace plimsoll::policy {

// One look at a running attempt.
struct JobSample {
  Duration ran{};  // running time since its start; frozen time does not count
  Bytes used{};    // bytes that can't be dropped, now
  Bytes peak{};    // the most of them so far, as far as is known
  Duration cpu{};  // CPU time so far
  // Time so far in which a task of it could have run and waited for a core, by the kernel's count
  // of stalls; absent where the host can't tell.
  std::optional<Duration> cpu_wait{};
  // I/O done so far, read and written; absent where the host can't tell.
  std::optional<Bytes> io{};
  // Time so far in which a task of it waited for I/O, by the kernel's count of stalls; absent where
  // the host can't tell.
  std::optional<Duration> io_wait{};
  // Bytes written to file systems so far, those of files that are gone again included, and whether
  // or not they have got to the device yet; absent where the host can't tell, or nobody has asked.
  std::optional<Bytes> written{};
  // Bytes that its client says it has beyond what it was admitted with, which is all that `used`
  // counts where nobody else has looked; absent where `used` is measured. They hold up others'
  // starts, and cost nobody anything that it has.
  std::optional<Bytes> claimed{};
};

// Shares of the time since the sample before, 0..1, by the kernel's stall totals.
struct StallShares {
  std::optional<double> cpu_some{};
  std::optional<double> memory_full{};
  std::optional<double> io_full{};
};

// What the jobs of the pool do with storage devices, since the sample before.
struct PoolIo {
  double waited = 0;            // share of the time, 0..1, in which a task of one waited for I/O
  double bytes_per_second = 0;  // read from devices and written to them, by all together
};

// One look at the machine and the pool.
struct MachineSample {
  // Bytes of the pool that can't be dropped; absent where the host can't tell, and then what its
  // jobs have together stands in. The pool's own count is never the smaller truth: it has what jobs
  // that ended have left in shared memory as well.
  std::optional<Bytes> pool_used{};
  std::optional<Bytes> available{};  // MemAvailable of the whole machine
  // Cores in use since the sample before, as CPU time over time: by anybody, and by the pool.
  // Absent where the host can't tell.
  std::optional<double> cores_busy{};
  std::optional<double> pool_cores{};
  StallShares stall;
  std::optional<PoolIo> io{};        // absent unless the host tells both
  std::optional<Bytes> swap_free{};  // absent: there is no swap
};

// One look at the file systems whose space is watched (GovernorConfig::disks), in their order.
struct DiskSample {
  std::vector<std::optional<Bytes>> free{};  // for users; absent: it can't be told, or not by now
};

}  // namespace plimsoll::policy

#pragma once

#include <optional>
#include <string>

#include "kernel/cgroup/group.h"
#include "kernel/counters/cpu_files.h"
#include "kernel/counters/io_files.h"
#include "kernel/counters/kernel_file.h"
#include "kernel/counters/memory_files.h"
#include "kernel/counters/usage.h"
#include "policy/job/observation.h"

namespace plimsoll::supervisor {

class Families;

// What the governor is told of pool and machine: looks, and the differences between them.
class PoolSampler {
 public:
  // `families` are the pool where it is no cgroup; null: it is one.
  explicit PoolSampler(const cgroup::Group& pool, Families* families = nullptr);

  // Shares of time are of at least so long: the kernel counts them in ticks of 10 ms. Looks that
  // are closer together tell what was told before.
  static constexpr Duration kShareSpan = std::chrono::milliseconds(100);

  // One look, with `machine` as the machine is now. About 15 us.
  [[nodiscard]] policy::MachineSample look(const counters::SystemSample& machine);

  // What that look found besides. Absent is what could not be read.
  [[nodiscard]] std::optional<Bytes> charged() const { return usage_.current; }
  // Total of "some" of the pool's memory pressure; of the machine's where groups have none.
  [[nodiscard]] std::optional<Duration> stalled() const { return stalled_; }
  // The pool's own memory pressure; absent where groups have none.
  [[nodiscard]] const std::optional<counters::Pressure>& pressure() const { return pressure_seen_; }

  // The highest `used` that was seen.
  [[nodiscard]] Bytes peak() const { return peak_; }

 private:
  [[nodiscard]] std::optional<Bytes> pool_used();
  [[nodiscard]] std::optional<Duration> pool_cpu();  // used by all that ever ran in it
  [[nodiscard]] std::optional<policy::PoolIo> pool_io(Instant now, double elapsed);
  void tell_shares(const counters::SystemSample& machine, policy::MachineSample& sample);

  counters::MemoryFiles memory_;
  counters::CpuFiles cpu_;
  counters::IoFiles io_;
  counters::PressureFile pressure_;     // of the pool; this is its one reader
  counters::PressureFile io_pressure_;  // likewise
  Families* families_;
  counters::MemoryUsage usage_;
  std::string buffer_;
  std::optional<counters::Pressure> pressure_seen_;
  std::optional<Duration> stalled_;
  std::optional<counters::SystemSample> last_;  // that shares were counted from
  std::optional<Duration> pool_cpu_;            // then
  std::optional<double> cores_busy_;            // of late, as these
  std::optional<double> pool_cores_;
  policy::StallShares stall_;
  counters::IoUsage io_before_;  // when shares were counted last
  std::optional<policy::PoolIo> pool_io_;
  Bytes peak_{};
};

}  // namespace plimsoll::supervisor

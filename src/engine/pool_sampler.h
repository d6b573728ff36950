#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cgroup/group.h"
#include "measure/cpu_files.h"
#include "measure/kernel_file.h"
#include "measure/memory_files.h"
#include "measure/usage.h"
#include "policy/observation.h"

namespace plimsoll::engine {

// What the governor is told of pool and machine: looks, and the differences between them.
class PoolSampler {
 public:
  // `counted` says what the pool uses where it is no cgroup; empty: it is one.
  explicit PoolSampler(const cgroup::Group& pool, std::function<Bytes()> counted = {});

  // Shares of time are of at least so long: the kernel counts them in ticks of 10 ms. Looks that
  // are closer together tell what was told before.
  static constexpr Duration kShareSpan = std::chrono::milliseconds(100);

  // One look, with `machine` as the machine is now. About 15 us.
  [[nodiscard]] policy::MachineSample look(const measure::SystemSample& machine);

  // What that look found besides. Absent is what could not be read.
  [[nodiscard]] std::optional<Bytes> charged() const { return usage_.current; }
  // Total of "some" of the pool's memory pressure; of the machine's where groups have none.
  [[nodiscard]] std::optional<Duration> stalled() const { return stalled_; }
  // The pool's own memory pressure; absent where groups have none.
  [[nodiscard]] const std::optional<measure::Pressure>& pressure() const { return pressure_seen_; }

  // The highest `used` that was seen.
  [[nodiscard]] Bytes peak() const { return peak_; }

 private:
  [[nodiscard]] std::optional<Duration> pool_cpu();  // used by all that ever ran in it
  void tell_shares(const measure::SystemSample& machine, policy::MachineSample& sample);

  measure::MemoryFiles memory_;
  measure::CpuFiles cpu_;
  measure::PressureFile pressure_;  // of the pool; this is its one reader
  std::function<Bytes()> counted_;
  measure::MemoryUsage usage_;
  std::string buffer_;
  std::optional<measure::Pressure> pressure_seen_;
  std::optional<Duration> stalled_;
  std::optional<measure::SystemSample> last_;  // that shares were counted from
  std::optional<Duration> pool_cpu_;           // then
  std::optional<double> cores_busy_;           // of late, as these
  std::optional<double> pool_cores_;
  policy::StallShares stall_;
  Bytes peak_{};
};

}  // namespace plimsoll::engine

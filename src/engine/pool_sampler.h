#pragma once

#include <optional>
#include <string>

#include "cgroup/group.h"
#include "measure/memory_files.h"
#include "measure/usage.h"
#include "policy/observation.h"

namespace plimsoll::engine {

// What the governor is told of pool and machine: looks, and the differences between them.
class PoolSampler {
 public:
  explicit PoolSampler(const cgroup::Group& pool) : memory_(pool) {}

  // A count of runnable tasks is of one moment; what is told is their mean of about so long.
  static constexpr Duration kRunnableTime = std::chrono::seconds(1);

  // One look, with `machine` as the machine is now. About 15 us.
  [[nodiscard]] policy::MachineSample look(const measure::SystemSample& machine);

  // The highest `used` that was seen.
  [[nodiscard]] Bytes peak() const { return peak_; }

 private:
  measure::MemoryFiles memory_;
  measure::MemoryUsage usage_;
  std::string buffer_;
  std::optional<measure::SystemSample> last_;
  std::optional<double> runnable_;  // of late
  Bytes peak_{};
};

}  // namespace plimsoll::engine
